package io.penstock.examples.disaggregated.model;

import static java.util.Objects.requireNonNull;

import io.penstock.examples.disaggregated.tensors.Cut;
import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.TensorSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The weights of one rank, which has no others, and the computations in which tokens do not meet.
///
/// A rank has its layers; of each its query heads with the key and value heads that they read, its columns of the
/// feed-forward part, and all norms. Ranks of the first stage share the rows of the embedding, those of the last stage
/// the outputs of the output matrix. The last stage has the draft head. Immutable.
public final class ModelShard {
  private final ModelConfig config;
  private final ModelPart part;
  private final List<Layer> layers;
  private final @Nullable Matrix embedding;
  private final @Nullable Ending ending;
  private final long bytes;

  /// What the last stage has behind the layers.
  ///
  /// @param output matrix to the logits of the rank's tokens
  private record Ending(RmsNorm norm, Matrix output, @Nullable DraftHead draft) {
    DraftHead requireDraft() {
      return requireNonNull(draft, "draft head");
    }
  }

  /// Counts the numbers that a rank loads.
  private static final class CountingSource implements TensorSource {
    private final TensorSource source;
    private long numbers;

    CountingSource(TensorSource source) {
      this.source = source;
    }

    @Override
    public float[] tensor(String name, int... shape) throws ModelFileException {
      return counted(source.tensor(name, shape));
    }

    @Override
    public float[] part(String name, Cut cut, int... shape) throws ModelFileException {
      return counted(source.part(name, cut, shape));
    }

    private float[] counted(float[] values) {
      numbers += values.length;
      return values;
    }

    long bytes() {
      return numbers * Float.BYTES;
    }
  }

  private ModelShard(ModelConfig config, ModelPart part, List<Layer> layers, @Nullable Matrix embedding,
      @Nullable Ending ending, long bytes) {
    this.config = config;
    this.part = part;
    this.layers = List.copyOf(layers);
    this.embedding = embedding;
    this.ending = ending;
    this.bytes = bytes;
  }

  /// Reads the weights of `part`, and no others.
  ///
  /// @param rotary the angles, which ranks share
  /// @throws ModelFileException if the source lacks a tensor or has it in another shape
  static ModelShard load(ModelConfig config, ModelPart part, Rotary rotary, TensorSource from)
      throws ModelFileException {
    CountingSource source = new CountingSource(from);
    Map<String, int[]> shapes = TensorShapes.of(config);
    Linears top = new Linears(source, shapes, "", config.rmsNormEps());
    Linears model = top.below("model");
    List<Layer> layers = new ArrayList<>();
    for (int layer = part.firstLayer(); layer < part.endLayer(); layer++) {
      layers.add(Layer.load(config, part, rotary, model.below("layers." + layer)));
    }
    int first = part.first(config.vocabSize());
    int count = part.count(config.vocabSize());
    Matrix embedding = part.firstLayer() > 0
        ? null
        : new Matrix(count, config.hiddenSize(), model.rows("embed_tokens", first, count));
    Ending ending = part.endLayer() < config.cachedLayers()
        ? null
        : new Ending(model.norm("norm"), config.tiedEmbeddings()
            ? model.outputs("embed_tokens", first, count)
            : top.outputs("lm_head", first, count),
            config.draftLayers() == 0 ? null : DraftHead.load(model.below("layers." + config.layers())));
    return new ModelShard(config, part, layers, embedding, ending, source.bytes());
  }

  /// Bytes of the weights in the memory of the rank.
  public long bytes() {
    return bytes;
  }

  private Layer layer(int layer) {
    return layers.get(layer - part.firstLayer());
  }

  /// The vector that goes into the first layer, if the rank has the token's.
  public float[] embed(int token) {
    return requireNonNull(embedding, "embedding").row(token - part.first(config.vocabSize()));
  }

  /// The input of the draft layer.
  ///
  /// @param embedding of the token
  /// @param before the output of the last layer for the token before it
  public float[] draftInput(float[] embedding, float[] before) {
    return ending().requireDraft().input(embedding, before);
  }

  public Attention attention(int layer) {
    return layer(layer).attention();
  }

  public SwiGlu feedForward(int layer) {
    return layer(layer).feedForward();
  }

  public float[] beforeAttention(int layer, float[] x) {
    return layer(layer).inputNorm().of(x);
  }

  public float[] beforeFeedForward(int layer, float[] x) {
    return layer(layer).outputNorm().of(x);
  }

  /// Adds the bias of the output of attention to the sum over all heads; only the first rank of a stage has it.
  public void addAttentionBias(int layer, float[] sum) {
    addBias(sum, layer(layer).attentionBias());
  }

  /// Adds the bias of the feed-forward part to the sum over all columns; only the first rank of a stage has it.
  public void addFeedForwardBias(int layer, float[] sum) {
    addBias(sum, layer(layer).feedForwardBias());
  }

  private static void addBias(float[] sum, float[] bias) {
    if (bias.length > 0) {
      Vectors.add(sum, bias);
    }
  }

  /// The logits of the rank's tokens, from the output of the last layer.
  public float[] logits(float[] x) {
    return ending().output().times(ending().norm().of(x));
  }

  /// The draft head's logits of the rank's tokens.
  ///
  /// @param x the output of the draft layer
  public float[] draftLogits(float[] x) {
    return ending().output().times(ending().requireDraft().outputNorm().of(x));
  }

  private Ending ending() {
    return requireNonNull(ending, "last stage");
  }
}
