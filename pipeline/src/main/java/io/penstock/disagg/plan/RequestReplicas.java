package io.penstock.disagg.plan;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/// Copies in an order that a request's id decides: a shuffle whose steps are drawn from SHA-256 over the id, the number
/// of copies and the step. Reader `k` takes the k-th, and begins again behind the last.
final class RequestReplicas implements ReplicaChoice {
  private final byte[] request;
  private final Map<Integer, int[]> orders = new ConcurrentHashMap<>();

  RequestReplicas(String requestId) {
    this.request = requireNonNull(requestId, "requestId").getBytes(UTF_8);
  }

  @Override
  public int choose(int reader, int readers, int copies) {
    return readers == copies ? reader : orders.computeIfAbsent(copies, this::order)[reader % copies];
  }

  private int[] order(int copies) {
    int[] order = IntStream.range(0, copies).toArray();
    for (int i = 0; i < copies - 1; i++) {
      int other = i + draw(copies, i, copies - i);
      int taken = order[other];
      order[other] = order[i];
      order[i] = taken;
    }
    return order;
  }

  /// A number below `bound`; of 64 random bits, so the bias is below 2⁻⁴⁸ for any number of ranks.
  private int draw(int copies, int step, int bound) {
    MessageDigest digest = sha256();
    digest.update(request);
    digest.update(ByteBuffer.allocate(8).putInt(copies).putInt(step).flip());
    return (int) Long.remainderUnsigned(ByteBuffer.wrap(digest.digest()).getLong(), bound);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
