"""A decoder-only model that learns a text by heart, with the kata's own functions alone."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from contextlib import redirect_stdout

import torch
from torch import Tensor

from kata.part01_tokens import (
    add_start_and_end_ids,
    build_vocabulary,
    decode_ids_to_tokens,
    encode_tokens_to_ids,
)
from kata.part07_weights import gather_parameters
from kata.part08_objective import compute_noam_learning_rate, compute_token_accuracy_ignoring_pad
from kata.part09_adam import initialize_adam_state, take_adam_step, zero_gradients
from kata.part13_decoder_only import compute_next_token_cross_entropy, run_decoder_only_forward
from kata.weights import (
    AttentionWeights,
    DecoderOnlyConfig,
    DecoderOnlyLayerWeights,
    DecoderOnlyWeights,
    GatedFeedForwardWeights,
    LinearWeights,
    StepRecord,
)

STEPS = 200
BY_HEART = 0.01  # nats a token: then the right one has 99 of 100 chances everywhere
WARMUP_STEPS, FACTOR = 20, 0.25  # up to 0.01


def zen_of_python() -> str:
    """The text that every Python brings along; its module prints it when it is imported."""
    with redirect_stdout(io.StringIO()):
        import this
    return codecs.decode(this.s, "rot13")


class Reciter:
    """A model of two small layers, and the text that it is to learn: words, spaces and signs."""

    def __init__(self, text: str) -> None:
        tokens = re.findall(r"\w+|\W", text)
        self.vocabulary = build_vocabulary([tokens])
        pad, start, end = (self.vocabulary[token] for token in ("<pad>", "<s>", "</s>"))
        ids = add_start_and_end_ids(encode_tokens_to_ids(tokens, self.vocabulary), start, end)
        self.token_ids = torch.tensor([ids])
        self.config = DecoderOnlyConfig(
            vocab_size=len(self.vocabulary),
            d_model=32,
            num_heads=4,
            d_ff=64,
            num_layers=2,
            max_length=len(ids),
            dropout_rate=0.0,
            pad_id=pad,
            start_id=start,
            end_id=end,
            num_kv_heads=2,
        )
        self.weights = _dice(self.config, torch.Generator().manual_seed(0))

    def learn(self, report: Callable[[StepRecord, int], None]) -> float:
        """Read the text again and again, until it is known by heart; return the last loss."""
        torch.set_num_threads(1)  # the tensors are tiny
        parameters = gather_parameters(self.weights)
        state = initialize_adam_state(parameters)
        for step in range(1, STEPS + 1):
            zero_gradients(parameters)
            logits = run_decoder_only_forward(self.token_ids, self.weights, self.config)
            loss = compute_next_token_cross_entropy(logits, self.token_ids, self.config.pad_id)
            loss.backward()
            rate = compute_noam_learning_rate(step, self.config.d_model, WARMUP_STEPS, FACTOR)
            state = take_adam_step(parameters, state, rate)
            report(self._record(step, loss.item(), logits, rate), STEPS)
            if loss < BY_HEART:
                break
        return loss.item()

    def _record(self, step: int, loss: float, logits: Tensor, rate: float) -> StepRecord:
        said, wanted = logits[:, :-1], self.token_ids[:, 1:]
        accuracy = compute_token_accuracy_ignoring_pad(said, wanted, self.config.pad_id)
        return StepRecord(step, loss, accuracy, rate, wanted.numel())

    @torch.no_grad()
    def recite(self) -> str:
        """Begin with the start token, and always say the likeliest token next."""
        said = self.token_ids[:, :1]
        while said.shape[1] < self.config.max_length and said[0, -1] != self.config.end_id:
            logits = run_decoder_only_forward(said, self.weights, self.config)
            said = torch.cat([said, logits[:, -1:].argmax(dim=-1)], dim=1)
        ids = said[0, 1:].tolist()
        return "".join(decode_ids_to_tokens(ids, self.vocabulary, self.config.end_id))


def _dice(config: DecoderOnlyConfig, generator: torch.Generator) -> DecoderOnlyWeights:
    """Throw the dice: each matrix keeps a signal at its volume."""
    d_model, kv_width = config.d_model, config.num_kv_heads * config.d_model // config.num_heads

    def thrown(d_out: int, d_in: int) -> Tensor:
        return (torch.randn(d_out, d_in, generator=generator) * d_in**-0.5).requires_grad_()

    def linear(d_out: int, d_in: int) -> LinearWeights:
        return LinearWeights(thrown(d_out, d_in))

    def gain() -> Tensor:
        return torch.ones(d_model, requires_grad=True)

    def layer() -> DecoderOnlyLayerWeights:
        return DecoderOnlyLayerWeights(
            attention_norm=gain(),
            attention=AttentionWeights(
                query=linear(d_model, d_model),
                key=linear(kv_width, d_model),
                value=linear(kv_width, d_model),
                output=linear(d_model, d_model),
            ),
            feed_forward_norm=gain(),
            feed_forward=GatedFeedForwardWeights(
                gate=linear(config.d_ff, d_model),
                up=linear(config.d_ff, d_model),
                down=linear(d_model, config.d_ff),
            ),
        )

    return DecoderOnlyWeights(
        token_embedding=thrown(config.vocab_size, d_model),
        layers=tuple(layer() for _ in range(config.num_layers)),
        final_norm=gain(),
    )
