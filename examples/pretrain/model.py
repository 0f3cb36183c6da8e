"""A decoder-only transformer with the architecture of Llama.

Source:
    https://arxiv.org/abs/2307.09288 (Llama 2): RMSNorm before each layer, rotary position
        embeddings, SwiGLU; sizes are arguments
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Causal self-attention with rotary position embeddings."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(width, 3 * width, bias=False)
        self.project_out = nn.Linear(width, width, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        batch, length, width = hidden.shape
        shape = (batch, length, 3, self.heads, width // self.heads)
        query, key, value = self.project_in(hidden).view(shape).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(rotate(query), rotate(key), value, is_causal=True)
        return self.project_out(mixed.transpose(1, 2).reshape(batch, length, width))


def rotate(vectors: Tensor) -> Tensor:
    """Rotate pairs of elements by an angle that grows with the position."""
    length, half = vectors.shape[-2], vectors.shape[-1] // 2
    positions = torch.arange(length, device=vectors.device, dtype=torch.float32)
    frequencies = 10000.0 ** (-torch.arange(half, device=vectors.device) / half)
    angles = torch.outer(positions, frequencies)
    cosine, sine = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    first, second = vectors.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), dim=-1)


class FeedForward(nn.Module):
    """SwiGLU."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = 8 * width // 3
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(hidden)) * self.up(hidden))


class Block(nn.Module):
    """One layer: the unit that FSDP shards and gathers."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm, self.attention = nn.RMSNorm(width), Attention(width, heads)
        self.feed_forward_norm, self.feed_forward = nn.RMSNorm(width), FeedForward(width)

    def forward(self, hidden: Tensor) -> Tensor:
        hidden = hidden + self.attention(self.attention_norm(hidden))
        return hidden + self.feed_forward(self.feed_forward_norm(hidden))


class Transformer(nn.Module):
    """The model: tokens to logits."""

    def __init__(self, *, vocabulary: int, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        hidden = self.embedding(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(self.norm(hidden))
