package io.penstock.examples.disaggregated.model;

import static java.util.Objects.requireNonNull;

import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.SafetensorsFile;
import io.penstock.examples.disaggregated.tensors.SafetensorsWriter;
import io.penstock.examples.disaggregated.tensors.SeededTensors;
import io.penstock.examples.disaggregated.tensors.StoredType;
import io.penstock.examples.disaggregated.tensors.TensorSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The weights of a model, and the computations in which tokens do not meet.
///
/// Immutable. Every rank of a process reads its own heads, column tiles and layers of it.
public final class Model {
  private static final String WEIGHTS = "model.safetensors";

  private final ModelConfig config;
  private final String digest;
  private final Matrix embedding;
  private final List<Layer> layers;
  private final RmsNorm norm;
  private final Matrix output;
  private final @Nullable DraftHead draft;

  private Model(ModelConfig config, String digest, Matrix embedding, List<Layer> layers, RmsNorm norm, Matrix output,
      @Nullable DraftHead draft) {
    this.config = config;
    this.digest = digest;
    this.embedding = embedding;
    this.layers = List.copyOf(layers);
    this.norm = norm;
    this.output = output;
    this.draft = draft;
  }

  /// A model with the weights of `source`.
  ///
  /// @throws ModelFileException if the source lacks a tensor or has it in another shape
  static Model load(ModelConfig config, TensorSource from) throws ModelFileException {
    DigestingSource source = new DigestingSource(from, config);
    Linears model = new Linears(source, "model.", config.rmsNormEps());
    int hidden = config.hiddenSize();
    float[] embedding = model.raw("embed_tokens", config.vocabSize(), hidden);
    LatentConfig latent = config.latent();
    Rotary rotary = new Rotary(latent == null ? config.headDim() : latent.qkRopeHeadDim(), config.ropeTheta(),
        config.maxPositions());
    List<Layer> layers = new ArrayList<>();
    for (int layer = 0; layer < config.cachedLayers(); layer++) {
      layers.add(Layer.load(config, rotary, model.below("layers." + layer)));
    }
    Matrix output = config.tiedEmbeddings()
        ? Matrix.ofLinear(config.vocabSize(), hidden, embedding)
        : new Linears(source, "", config.rmsNormEps()).load("lm_head", config.vocabSize(), hidden);
    DraftHead draft =
        config.draftLayers() == 0 ? null : DraftHead.load(config, model.below("layers." + config.layers()));
    RmsNorm norm = model.norm("norm", hidden);
    return new Model(config, source.digest(), new Matrix(config.vocabSize(), hidden, embedding), layers, norm, output,
        draft);
  }

  /// A model with weights made from a seed.
  public static Model seeded(ModelConfig config, long seed) {
    try {
      return load(config, new SeededTensors(seed));
    } catch (ModelFileException e) {
      throw new UncheckedIOException("seeded tensors have every shape", e);
    }
  }

  /// The model of a folder with `config.json` and `model.safetensors`.
  ///
  /// @throws ModelFileException if one of them breaks a rule
  public static Model read(Path folder) throws IOException {
    ModelConfig config = ConfigFile.read(folder.resolve(ConfigFile.NAME));
    try (SafetensorsFile file = SafetensorsFile.open(folder.resolve(WEIGHTS))) {
      return load(config, file);
    }
  }

  /// Writes the weights of [#seeded], rounded to `type`, and the configuration into `folder`, which is made.
  static void write(ModelConfig config, long seed, StoredType type, Path folder) throws IOException {
    SafetensorsWriter writer = new SafetensorsWriter(new SeededTensors(seed), type);
    load(config, writer);
    Files.createDirectories(folder);
    ConfigFile.write(config, type, folder.resolve(ConfigFile.NAME));
    writer.write(folder.resolve(WEIGHTS));
  }

  /// Writes the seeded model with all bits, so that reading it back gives an equal model.
  public static void write(ModelConfig config, long seed, Path folder) throws IOException {
    write(config, seed, StoredType.F32, folder);
  }

  /// Digest of configuration and weights: equal for equal models only.
  public String digest() {
    return digest;
  }

  public ModelConfig config() {
    return config;
  }

  /// The vector that goes into the first layer.
  public float[] embed(int token) {
    return embedding.row(token);
  }

  /// The input of the draft layer.
  ///
  /// @param before the output of the last layer for the token before `token`
  public float[] embedDraft(int token, float[] before) {
    return requireDraft().input(embed(token), before);
  }

  public Attention attention(int layer) {
    return layers.get(layer).attention();
  }

  public SwiGlu feedForward(int layer) {
    return layers.get(layer).feedForward();
  }

  public float[] beforeAttention(int layer, float[] x) {
    return layers.get(layer).inputNorm().of(x);
  }

  public float[] beforeFeedForward(int layer, float[] x) {
    return layers.get(layer).outputNorm().of(x);
  }

  /// The logits of the next token, from the output of the last layer.
  public float[] logits(float[] x) {
    return output.times(norm.of(x));
  }

  /// The draft head's logits.
  ///
  /// @param x the output of the draft layer
  public float[] draftLogits(float[] x) {
    return output.times(requireDraft().outputNorm().of(x));
  }

  private DraftHead requireDraft() {
    return requireNonNull(draft, "draft head");
  }
}
