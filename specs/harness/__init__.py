"""The pytest plugin behind the kata: one noun, one module; hooks only in ``plugin``."""
