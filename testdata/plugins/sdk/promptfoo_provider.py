"""A provider, an assertion and a prompt in the shapes that promptfoo calls."""


async def call_api(prompt: str, options: dict, context: dict) -> dict:
    if not prompt:
        return {"error": "no prompt"}
    greeting = options.get("config", {}).get("greeting", "Hello")
    return {"output": f"{greeting}, {prompt}", "tokenUsage": {"total": len(prompt), "prompt": len(prompt), "completion": 0}}


def call_embedding_api(prompt, options, context):
    return {"embedding": [float(len(prompt)), 0.5]}


def get_assert(output: str, context):
    return {"pass": "Ada" in output, "score": 0.9, "reason": context["vars"]["name"]}


def create_prompt(context: dict):
    return [{"role": "user", "content": context["vars"]["name"]}]
