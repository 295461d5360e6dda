"""The hook of storm.py for uvicorn (app) and for gunicorn (function)."""
import fastapi
import flask
import pydantic

import storm

app = fastapi.FastAPI()


class Arguments(pydantic.BaseModel):
    n: int
    crash: bool = False


@app.post("/hooks/work")
def work(arguments: Arguments) -> int:
    return storm.work(arguments.n, arguments.crash)


def function(request: flask.Request):
    return flask.jsonify(storm.work(**request.get_json()))
