"""Second: words and phrases that name objectives, typing errors mended."""
