package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.TensorSource;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// Hashes all tensors that a model is loaded from: two sides that exchange caches must have equal weights.
final class DigestingSource implements TensorSource {
  private static final int DIGEST_BYTES = 8;

  private final TensorSource source;
  private final MessageDigest sha256;

  DigestingSource(TensorSource source, ModelConfig config) {
    this.source = source;
    try {
      this.sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
    sha256.update(config.toString().getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public float[] tensor(String name, int... shape) throws ModelFileException {
    float[] values = source.tensor(name, shape);
    ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES);
    bytes.asFloatBuffer().put(values);
    sha256.update(name.getBytes(StandardCharsets.UTF_8));
    sha256.update(bytes);
    return values;
  }

  /// The first bytes of the hash, in hex; the last call.
  String digest() {
    return HexFormat.of().formatHex(sha256.digest(), 0, DIGEST_BYTES);
  }
}
