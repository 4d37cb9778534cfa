"""The Foremerge doors of a running gitring, at the addresses that it gives."""

import httpx2

from tests.support.stack import RunningStack


async def test_the_address_of_the_connection_file_lists_the_tools_and_the_api_answers(
    stack: RunningStack,
) -> None:
    connection = stack.connection
    headers = {"Authorization": f"Bearer {connection['owner_token']}", "Accept": "application/json"}
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        listed = (await http.post(connection["foremerge_mcp"], json=asked)).json()
        assert len(listed["result"]["tools"]) == 18
        answer = await http.get(f"{connection['url']}/v1/status", headers={"Gitring-Project": "nowhere"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")
