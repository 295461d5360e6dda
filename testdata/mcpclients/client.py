"""A session of the package mcp, 1.x or 2.x: client.py MODE COMMAND [ARG...], or client.py MODE URL.

MODE is the mode of mcp.Client, which 1.x does not have. Each line of standard input is a step. The answer
is a line: the tools, or the result of a call. With a number of sessions, each session makes the call.
"""

import asyncio
import contextlib
import functools
import json
import os
import pathlib
import sys

import mcp
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


@contextlib.asynccontextmanager
async def connect(mode, command, args):
    if command.startswith("http:"):
        server = streamable_http_client(command)
    else:
        server = stdio_client(mcp.StdioServerParameters(command=command, args=args, env=dict(os.environ)))
    if hasattr(mcp, "Client"):
        async with mcp.Client(server, mode=mode) as client:
            yield client, client.protocol_version
        return
    async with server as streams, mcp.ClientSession(*streams[:2]) as session:
        yield session, (await session.initialize()).protocolVersion


async def until(marker):
    while not os.path.exists(marker):
        await asyncio.sleep(0.01)


async def cancel(session, call, marker):
    await until(marker)
    if hasattr(session, "_request_id"):  # 1.x sends no notification itself
        await session.send_notification(mcp.types.ClientNotification(mcp.types.CancelledNotification(
            params=mcp.types.CancelledNotificationParams(requestId=session._request_id - 1))))
    call.cancel()
    await asyncio.wait([call])
    return {"canceled": call.cancelled()}


async def in_sessions(open_session, sessions, at_once, call):
    """Makes a call in each of a number of sessions. Returns the distinct results."""
    async def one():
        async with limit, open_session() as (session, _):
            return json.dumps(await step(session, call), separators=(",", ":"))

    limit = asyncio.Semaphore(at_once)
    return {"sessions": sessions, "all": sorted(set(await asyncio.gather(*[one() for _ in range(sessions)])))}


async def step(session, step):
    if "tool" not in step:
        return [t.name for t in (await session.list_tools()).tools]
    progress = []

    async def on_progress(number, total, message):
        progress.append(message)
        if "seen" in step["args"]:
            pathlib.Path(step["args"]["seen"] + message).touch()

    call = asyncio.ensure_future(session.call_tool(step["tool"], step["args"], progress_callback=on_progress))
    if step.get("cancel"):
        return await cancel(session, call, step["args"]["marker"])
    try:
        result = (await call).model_dump(by_alias=True)
    except mcp.MCPError if hasattr(mcp, "MCPError") else mcp.McpError as e:
        return {"code": e.error.code}
    return {
        "error": result["isError"], "text": "".join(c["text"] for c in result["content"]),
        "structured": result["structuredContent"], "progress": progress,
    }


async def main(mode, command, *args):
    open_session = functools.partial(connect, mode, command, args)
    async with open_session() as (session, version):
        print(version, flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            each = json.loads(line)
            answer = await (in_sessions(open_session, **each) if "sessions" in each else step(session, each))
            print(json.dumps(answer, separators=(",", ":")), flush=True)


asyncio.run(main(*sys.argv[1:]))
