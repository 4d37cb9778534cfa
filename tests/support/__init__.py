"""What several test rooms share: real servers, and small things built on them."""
