package io.penstock.examples.jlama;

import com.github.tjake.jlama.model.AbstractModel;
import com.github.tjake.jlama.model.ModelSupport;
import com.github.tjake.jlama.safetensors.Config;
import com.github.tjake.jlama.safetensors.DType;
import com.github.tjake.jlama.tensor.AbstractTensor;
import com.github.tjake.jlama.tensor.KvBufferCache;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A model of Jlama, loaded from a folder in Hugging Face form.
///
/// A model of Jlama keeps results of a batch in its fields, so it computes one batch at a time: sessions take turns,
/// batch by batch, and each batch uses all cores.
@SuppressWarnings("rawtypes") // Jlama names its tensors without their types
final class JlamaEngine implements AutoCloseable {
  static final int BLOCK_TOKENS = 16;
  /// A batch ends where a multiple of this number of tokens does: as many as Jlama computes at a time.
  static final int BATCH_TOKENS = 256;
  private static final String VERSION = "jlama-0.8.4";

  private final String name;
  private final String fingerprint;
  private final AbstractModel model;
  private final KvBufferCache cache;
  private final ReentrantLock turn = new ReentrantLock(true);

  private JlamaEngine(String name, String fingerprint, AbstractModel model) {
    this.name = name;
    this.fingerprint = fingerprint;
    this.model = model;
    this.cache = new KvBufferCache(model); // the model has one, which it does not show
  }

  /// Loads `config.json`, the tokenizer and all weights.
  static JlamaEngine load(Path folder) {
    AbstractModel model =
        ModelSupport.loadModel(folder.toFile(), null, DType.F32, DType.F32, Optional.empty(), Optional.empty());
    return new JlamaEngine(folder.toAbsolutePath().normalize().getFileName().toString(),
        VERSION + "/" + model.getWorkingDType() + "/sha256:" + digest(folder), model);
  }

  /// Digest of the configuration and of all weights.
  private static String digest(Path folder) {
    try (Stream<Path> all = Files.list(folder)) {
      List<Path> files = all.filter(file -> file.toString().endsWith(".safetensors") || file.endsWith("config.json"))
          .sorted().toList();
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Path file : files) {
        digest.update((file.getFileName() + "\n" + Files.size(file) + "\n").getBytes(StandardCharsets.UTF_8));
        try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
          in.transferTo(OutputStream.nullOutputStream());
        }
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /// The space of its blocks: new weights, another element type or another version of Jlama are another space.
  CacheSpace space() {
    Config config = model.getConfig();
    return CacheSpace.of(name, BlockLayout.attention(config.numberOfLayers, BLOCK_TOKENS, config.numberOfKeyValueHeads,
        config.headSize, elementType(model.getWorkingDType()))).withFingerprint(fingerprint);
  }

  private static ElementType elementType(DType type) {
    return switch (type) {
      case F32 -> ElementType.FP32;
      case BF16 -> ElementType.BF16;
      default -> throw new IllegalArgumentException("type of the KV cache must be F32 or BF16 (was " + type + ")");
    };
  }

  String name() {
    return name;
  }

  int layers() {
    return model.getConfig().numberOfLayers;
  }

  int words() {
    return model.getConfig().vocabularySize;
  }

  /// Most tokens of a session.
  int context() {
    return model.getConfig().contextLength;
  }

  boolean isEnd(int token) {
    return model.getConfig().eosTokens.contains(token);
  }

  AbstractModel model() {
    return model;
  }

  /// @param tokens most tokens of the session, prompt and answer
  JlamaSession session(int tokens) {
    if (tokens <= 0 || tokens > context()) {
      throw new IllegalArgumentException(
          "tokens of a session must be from 1 to " + context() + " (was " + tokens + ")");
    }
    return new JlamaSession(this, cache.getEphemeralKvBuffer(), tokens);
  }

  /// Computes one batch, whose rows go into `rows`.
  ///
  /// @param reducer called twice for each layer: when its keys and values are written, and when all of it is computed
  /// @param logits receives the logits after the last token
  /// @return the most probable next token
  int forward(int[] batch, int position, KvBufferCache.KvBuffer rows, Consumer<List<AbstractTensor>> reducer,
      AbstractTensor logits) {
    turn.lock();
    try (AbstractTensor hidden = model.batchForward(batch, position, rows, Optional.of(reducer))) {
      return model.sample(hidden.slice(hidden.shape().first() - 1), 0, 0, logits);
    } finally {
      turn.unlock();
    }
  }

  /// Tokens of a text, after the token that begins every prompt.
  int[] encode(String text) {
    long[] tokens = model.getTokenizer().encode(text);
    int begin = model.getConfig().bosToken;
    return IntStream.concat(IntStream.of(begin),
        Arrays.stream(tokens).mapToInt(Math::toIntExact).skip(tokens.length > 0 && tokens[0] == begin ? 1 : 0))
        .toArray();
  }

  @Override
  public void close() {
    cache.close();
    model.close();
  }
}
