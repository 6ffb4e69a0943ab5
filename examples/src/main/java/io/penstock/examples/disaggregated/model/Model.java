package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.Cut;
import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.SafetensorsFolder;
import io.penstock.examples.disaggregated.tensors.SafetensorsWriter;
import io.penstock.examples.disaggregated.tensors.SeededTensors;
import io.penstock.examples.disaggregated.tensors.StoredType;
import io.penstock.examples.disaggregated.tensors.TensorSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/// A model: its configuration, and where its weights are. It has no weights; each rank loads its own part.
public final class Model {
  private static final int DIGEST_BYTES = 8;
  private static final int NUMBERS_AT_A_TIME = 1 << 20;

  private final ModelConfig config;
  private final String digest;
  private final Rotary rotary;
  private final Weights weights;

  /// Where the weights are, which is opened for each load.
  private interface Weights {
    TensorSource open() throws IOException;
  }

  private Model(ModelConfig config, String digest, Weights weights) {
    this.config = config;
    this.digest = digest;
    this.rotary = new Rotary(config.rotary());
    this.weights = weights;
  }

  /// A model with weights made from a seed.
  public static Model seeded(ModelConfig config, long seed) {
    SeededTensors tensors = new SeededTensors(seed);
    try {
      return new Model(config, digest(config, tensors), () -> tensors);
    } catch (ModelFileException e) {
      throw new UncheckedIOException("seeded tensors have every shape", e);
    }
  }

  /// The model of a folder with `config.json` and `model.safetensors`, or the files that an index lists.
  ///
  /// @throws ModelFileException if one of them breaks a rule, or has something that is not computed here
  public static Model read(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new ModelFileException(folder, "model must be a folder with " + ConfigFile.NAME + " (is not)");
    }
    ModelConfig config = ConfigFile.read(folder.resolve(ConfigFile.NAME));
    try (SafetensorsFolder files = SafetensorsFolder.open(folder)) {
      new ExtraTensors(config, folder, files).requireUnneeded(files.names());
      return new Model(config, digest(config, files), () -> SafetensorsFolder.open(folder));
    }
  }

  /// Hashes all tensors, a part at a time: two sides that exchange caches must have equal weights.
  private static String digest(ModelConfig config, TensorSource source) throws ModelFileException {
    MessageDigest sha256 = sha256();
    sha256.update(config.toString().getBytes(StandardCharsets.UTF_8));
    for (Map.Entry<String, int[]> entry : TensorShapes.of(config).entrySet()) {
      sha256.update(entry.getKey().getBytes(StandardCharsets.UTF_8));
      int[] shape = entry.getValue();
      int rows = Math.max(1, NUMBERS_AT_A_TIME / Cut.whole(shape).columns());
      for (int row = 0; row < shape[0]; row += rows) {
        float[] values = source.part(entry.getKey(), Cut.rows(row, Math.min(rows, shape[0] - row), shape), shape);
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES);
        bytes.asFloatBuffer().put(values);
        sha256.update(bytes);
      }
    }
    return HexFormat.of().formatHex(sha256.digest(), 0, DIGEST_BYTES);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /// Writes the weights of [#seeded], rounded to `type`, and the configuration into `folder`, which is made.
  static void write(ModelConfig config, long seed, StoredType type, Path folder) throws IOException {
    SafetensorsWriter writer = new SafetensorsWriter(new SeededTensors(seed), type);
    for (Map.Entry<String, int[]> entry : TensorShapes.of(config).entrySet()) {
      writer.tensor(entry.getKey(), entry.getValue());
    }
    Files.createDirectories(folder);
    ConfigWriter.write(config, type, folder.resolve(ConfigFile.NAME));
    writer.write(folder.resolve(SafetensorsFolder.WEIGHTS));
  }

  /// Writes the seeded model with all bits, so that reading it back gives an equal model.
  public static void write(ModelConfig config, long seed, Path folder) throws IOException {
    write(config, seed, StoredType.F32, folder);
  }

  /// Loads the weights of each part, for a rank of its own. Parts that have equal weights have copies of them.
  ///
  /// @throws UncheckedIOException if the files have changed since they were read
  public List<ModelShard> load(List<ModelPart> parts) {
    try (TensorSource source = weights.open()) {
      List<ModelShard> shards = new ArrayList<>();
      for (ModelPart part : parts) {
        shards.add(ModelShard.load(config, part, rotary, source));
      }
      return shards;
    } catch (IOException e) {
      throw new UncheckedIOException(String.valueOf(e.getMessage()), e);
    }
  }

  /// Digest of configuration and weights: equal for equal models only.
  public String digest() {
    return digest;
  }

  public ModelConfig config() {
    return config;
  }
}
