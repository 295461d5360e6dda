"""The tools that the scenarios of @modelcontextprotocol/conformance call."""

import base64
import io
import time
import wave

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


def test_image_content() -> bytes:
    """Return an image."""
    return PNG


def test_audio_content() -> bytes:
    """Return a sound."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(b"\x80" * 8)
    return file.getvalue()


def test_embedded_resource() -> bytes:
    """Return bytes, which are a resource."""
    return b"\0\1"


def test_multiple_content_types():
    """Return a text, an image and a resource."""
    yield "Multiple content types test:"
    yield PNG
    yield b"\0\1"


def test_tool_with_progress():
    """Return three texts, which are progress."""
    for text in "0", "50", "100":
        yield text
        time.sleep(0.05)


def test_error_handling():
    """Raise."""
    raise ValueError("This tool intentionally returns an error for testing")


def test_logging_tool():
    """Print, which is no part of a result."""
    print("This is not for the client.")


def test_streaming_elicitation():
    """Return two texts."""
    yield "0"
    yield "1"
