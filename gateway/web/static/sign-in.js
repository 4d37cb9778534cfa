"use strict";
// The secret of a sign-in link stands behind `#`, which browsers never send: put it into the form, and out of the address.
(() => {
  const secret = location.hash.slice(1);
  if (!secret.startsWith("gitring_signin_")) return;
  document.getElementById("link").value = secret;
  document.getElementById("field").hidden = true;
  document.getElementById("ready").hidden = false;
  history.replaceState(null, "", location.pathname + location.search);
  document.querySelector("#sign-in button").focus();
})();
