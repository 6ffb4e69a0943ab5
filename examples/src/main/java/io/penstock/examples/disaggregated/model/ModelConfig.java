package io.penstock.examples.disaggregated.model;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checks;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Sizes and parts of a model, as in the `config.json` of a checkpoint.
///
/// @param family names and parts of the tensors
/// @param hiddenSize elements of the vector that goes from layer to layer
/// @param layers number of layers, the draft head's not counted
/// @param heads query heads
/// @param kvHeads key and value heads, each shared by `heads / kvHeads` query heads; 1 with latent attention
/// @param headDim elements a head; even
/// @param intermediateSize width of the SwiGLU part; a multiple of [#COLUMN_TILE]
/// @param vocabSize number of tokens, at least those of [ByteTokenizer]
/// @param maxPositions most tokens of a sequence
/// @param rmsNormEps added to the mean square
/// @param rotary positions of queries and keys
/// @param attentionBias whether queries, keys and values have biases
/// @param feedForwardBias whether the SwiGLU part has biases
/// @param windows for each layer the tokens that a token sees, itself among them, or 0 for all; empty if all see all
/// @param tiedEmbeddings whether the output matrix is the embedding
/// @param latent sizes of latent attention; null for grouped-query attention
/// @param draftLayers layers of the draft head in the checkpoint
public record ModelConfig(ModelFamily family, int hiddenSize, int layers, int heads, int kvHeads, int headDim,
    int intermediateSize, int vocabSize, int maxPositions, float rmsNormEps, RotaryConfig rotary, boolean attentionBias,
    boolean feedForwardBias, List<Integer> windows, boolean tiedEmbeddings, @Nullable LatentConfig latent,
    int draftLayers) {
  /// Columns of the SwiGLU part that are summed together; a rank has whole tiles.
  public static final int COLUMN_TILE = 16;
  /// Implementations differ in the epsilon of the norm of latents: this one, or `rms_norm_eps`.
  static final float LATENT_NORM_EPS = 1e-6f;

  private static final int MOST_WIDTH = 1 << 16;
  private static final int MOST_HEADS = 1 << 10;
  private static final int MOST_HEAD_DIM = 1 << 10;
  private static final int MOST_LAYERS = 1 << 10;
  private static final int MOST_POSITIONS = 1 << 24;

  public ModelConfig {
    requireNonNull(family, "family");
    windows = List.copyOf(windows);
    requireIn("hidden_size", hiddenSize, MOST_WIDTH);
    requireIn("num_hidden_layers", layers, MOST_LAYERS);
    requireIn("num_attention_heads", heads, MOST_HEADS);
    requireIn("num_key_value_heads", kvHeads, heads);
    requireIn("head_dim", headDim, MOST_HEAD_DIM);
    requireIn("intermediate_size", intermediateSize, MOST_WIDTH);
    requireIn("vocab_size", vocabSize, 1 << 20);
    requireIn("max_position_embeddings", maxPositions, MOST_POSITIONS);
    if (heads % kvHeads != 0) {
      throw new IllegalArgumentException(
          "num_attention_heads must be a multiple of num_key_value_heads, " + kvHeads + " (was " + heads + ")");
    }
    if (headDim % 2 != 0) {
      throw new IllegalArgumentException("head_dim must be even (was " + headDim + ")");
    }
    if (rotary.width() > headDim) {
      throw new IllegalArgumentException(
          "rotary elements of a head must be <= head_dim, " + headDim + " (was " + rotary.width() + ")");
    }
    if (intermediateSize % COLUMN_TILE != 0) {
      throw new IllegalArgumentException(
          "intermediate_size must be a multiple of " + COLUMN_TILE + " (was " + intermediateSize + ")");
    }
    if (vocabSize < ByteTokenizer.TOKENS) {
      throw new IllegalArgumentException("vocab_size must be >= " + ByteTokenizer.TOKENS + " (was " + vocabSize + ")");
    }
    if (!(rmsNormEps > 0) || Float.isInfinite(rmsNormEps)) {
      throw new IllegalArgumentException("rms_norm_eps must be > 0 (was " + rmsNormEps + ")");
    }
    if ((!windows.isEmpty() && windows.size() != layers) || windows.stream().anyMatch(window -> window < 0)) {
      throw new IllegalArgumentException("windows must be one for each layer, each >= 0 (was " + windows + ")");
    }
    if ((latent != null) != (family == ModelFamily.DEEPSEEK_V3)) {
      throw new IllegalArgumentException(
          "model_type must be deepseek_v3 with latent attention, and only then (was " + family.modelType() + ")");
    }
    if (latent != null) {
      requireLatent(latent, kvHeads, headDim, rmsNormEps);
    }
    new SpeculativeConfig(draftLayers, 0);
  }

  private static void requireLatent(LatentConfig latent, int kvHeads, int headDim, float rmsNormEps) {
    if (kvHeads != 1) {
      throw new IllegalArgumentException("num_key_value_heads must be 1 with latent attention (was " + kvHeads + ")");
    }
    if (headDim != latent.qkRopeHeadDim()) {
      throw new IllegalArgumentException("head_dim must be qk_rope_head_dim, " + latent.qkRopeHeadDim()
          + ", with latent attention (was " + headDim + ")");
    }
    if (rmsNormEps != LATENT_NORM_EPS) {
      throw new IllegalArgumentException("rms_norm_eps must be 1.0E-6 with latent attention, since implementations"
          + " differ about other values (was " + rmsNormEps + ")");
    }
  }

  private static void requireIn(String name, int value, int most) {
    if (Checks.positive(name, value) > most) {
      throw new IllegalArgumentException(name + " must be <= " + most + " (was " + value + ")");
    }
  }

  /// A model that answers in a millisecond: grouped-query attention, with a draft head.
  public static ModelConfig tiny() {
    return new ModelConfig(ModelFamily.LLAMA, 48, 4, 8, 4, 8, 96, ByteTokenizer.TOKENS, 512, 1e-5f,
        new RotaryConfig(10_000, 8, false, RotaryConfig.Scaling.NONE), false, false, List.of(), false, null, 1);
  }

  /// A tiny model with latent attention.
  public static ModelConfig tinyLatent() {
    return tiny().withLatent(new LatentConfig(16, 4, 8, 8));
  }

  /// This model with latent attention, so with one head in the cache and without what DeepSeek does not have.
  public ModelConfig withLatent(LatentConfig newLatent) {
    int width = newLatent.qkRopeHeadDim();
    return new ModelConfig(ModelFamily.DEEPSEEK_V3, hiddenSize, layers, heads, 1, width, intermediateSize, vocabSize,
        maxPositions, LATENT_NORM_EPS,
        new RotaryConfig(rotary.theta(), width, rotary.interleaved(), rotary.scaling()), false, false, List.of(),
        tiedEmbeddings, newLatent, draftLayers);
  }

  /// Layers that have a KV cache: the draft head's layer is the last one.
  public int cachedLayers() {
    return layers + draftLayers;
  }

  /// The first token that the token at `position` sees in `layer`.
  public int firstVisible(int layer, int position) {
    int window = layer < windows.size() ? windows.get(layer) : 0;
    return window == 0 ? 0 : Math.max(0, position - window + 1);
  }

  /// Tiles of the SwiGLU part.
  public int columnTiles() {
    return intermediateSize / COLUMN_TILE;
  }

  /// Whether the output of attention has a bias.
  boolean outputBias() {
    return attentionBias && family.biasesOutput();
  }

  /// The planes that the cache of a rank keeps for each layer.
  ///
  /// @param cachedHeads key and value heads that the rank has
  public List<Plane> planes(int cachedHeads, ElementType type) {
    if (latent != null) {
      return List.of(new Plane(Plane.Kind.LATENT, type, 1, latent.kvLoraRank()),
          new Plane(Plane.Kind.ROPE, type, 1, latent.qkRopeHeadDim()));
    }
    return List.of(new Plane(Plane.Kind.KEY, type, cachedHeads, headDim),
        new Plane(Plane.Kind.VALUE, type, cachedHeads, headDim));
  }
}
