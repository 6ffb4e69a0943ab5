package io.penstock.gateway.relay;

import io.penstock.gateway.instance.Instance;
import org.jspecify.annotations.Nullable;

/// The instances of one attempt. They are held until it is closed.
public interface Chosen extends AutoCloseable {
  /// The instance that computes the prompt; null where one does both.
  @Nullable Instance prefill();

  /// The instance that answers.
  Instance decode();

  /// Which peer has the prefix, as `NAME;blocks=N;url=URL`, and `;kv=HOST:PORT` if its settings say where it hands
  /// blocks over; null if none is known that has more of it than the instance that computes.
  @Nullable String source();

  /// The first event came: the prompt is computed, and its keys and values have left the prefill.
  void begun();

  /// The attempt ended. Idempotent.
  @Override
  void close();
}
