package io.penstock.wire.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.SliceShape;
import io.penstock.check.Checks;
import io.penstock.wire.client.link.LinkTerms;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.security.Credentials;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// How a [KvClient] asks.
///
/// @param name told to the server
/// @param maxSliceBytes most payload bytes a slice; lowered to what the server allows
/// @param windowBlocks most blocks a window; lowered to what the server allows and the arena holds
/// @param order order of slices inside a window
/// @param startLayer layers before it are not fetched
/// @param creditSlices most slices a stream asks for ahead
/// @param sendWindowBytes most bytes of slices that wait for the socket
/// @param credentials shown to the node at each connection
/// @param keepAlive time between keep-alive frames
/// @param keepAliveTimeout silence after which the connection counts as lost
/// @param connectTimeout how long connecting may take until the node serves: names, socket, TLS, `hello` and a read
///     ring; [KvClient#connectBest] has as long for both of its connections
/// @param answerTimeout how long a node may owe an answer and say nothing, on a connection that lives; not for events
///     and blocks that are awaited, and four times as long for room for a put
/// @param timers of these two limits; null for those of the transport, which transports of this module have: over
///     another transport there are no such limits then
/// @param carriers what may carry slices, the preferred one first; one alone is demanded
/// @param ringSpin with shared memory, reads small requests through a read ring, whose thread spins as long before it
///     sleeps; zero for none, null for no ring
/// @param streams hears of each get and put that ended
public record KvClientOptions(String name, int maxSliceBytes, int windowBlocks, SliceShape.Order order, int startLayer,
    int creditSlices,
    long sendWindowBytes, Credentials credentials, Duration keepAlive, Duration keepAliveTimeout,
    Duration connectTimeout, Duration answerTimeout, @Nullable Scheduler timers, List<Carrier> carriers,
    @Nullable Duration ringSpin, StreamListener streams) {
  public KvClientOptions {
    requireNonNull(name, "name");
    requireNonNull(order, "order");
    requireNonNull(credentials, "credentials");
    requireNonNull(streams, "streams");
    requireNonNull(keepAlive, "keepAlive");
    requireNonNull(keepAliveTimeout, "keepAliveTimeout");
    new Limits(maxSliceBytes, windowBlocks, 1);
    Checks.notNegative("startLayer", startLayer);
    Checks.positive("creditSlices", creditSlices);
    if (sendWindowBytes < maxSliceBytes) {
      throw new IllegalArgumentException(
          "sendWindowBytes must be >= maxSliceBytes " + maxSliceBytes + " (was " + sendWindowBytes + ")");
    }
    if (keepAlive.isNegative() || keepAlive.isZero() || keepAliveTimeout.compareTo(keepAlive) <= 0) {
      throw new IllegalArgumentException(
          "keepAlive must be > 0 and < keepAliveTimeout (was " + keepAlive + ", " + keepAliveTimeout + ")");
    }
    Checks.atLeastOneMilli("connectTimeout", connectTimeout);
    Checks.atLeastOneMilli("answerTimeout", answerTimeout);
    carriers = List.copyOf(carriers);
    if (carriers.isEmpty()) {
      throw new IllegalArgumentException("carriers must be > 0 (was none)");
    }
  }

  /// What a connection is made with.
  public LinkTerms link() {
    return new LinkTerms(credentials, keepAlive, keepAliveTimeout, connectTimeout, answerTimeout, timers, streams);
  }

  /// These options with another listener.
  public KvClientOptions withStreams(StreamListener listener) {
    return new KvClientOptions(name, maxSliceBytes, windowBlocks, order, startLayer, creditSlices, sendWindowBytes,
        credentials, keepAlive, keepAliveTimeout, connectTimeout, answerTimeout, timers, carriers, ringSpin, listener);
  }

  /// What [#builder()] starts with.
  public static KvClientOptions defaults() {
    return builder().build();
  }

  /// Slices of 512 KiB, windows of 64 blocks, layer-first from layer 0, 16 slices of credit a stream, a send window of
  /// 4 MiB, no credentials, keep-alive every 20 s with a limit of 90 s, 15 s to connect, 30 s for an answer, shared
  /// memory where the node has it, else frames, no read ring.
  public static Builder builder() {
    return new Builder();
  }

  /// Builder that starts with the defaults.
  public static final class Builder {
    private String name = "penstock-client";
    private int maxSliceBytes = 512 << 10;
    private int windowBlocks = 64;
    private SliceShape.Order order = SliceShape.Order.LAYER_FIRST;
    private int startLayer;
    private int creditSlices = 16;
    private long sendWindowBytes = 4 << 20;
    private Credentials credentials = Credentials.none();
    private Duration keepAlive = Duration.ofSeconds(20);
    private Duration keepAliveTimeout = Duration.ofSeconds(90);
    private Duration connectTimeout = Duration.ofSeconds(15);
    private Duration answerTimeout = Duration.ofSeconds(30);
    private @Nullable Scheduler timers;
    private List<Carrier> carriers = List.of(Carrier.SHARED_MEMORY, Carrier.INLINE);
    private @Nullable Duration ringSpin;
    private StreamListener streams = StreamListener.noop();

    private Builder() {}

    public Builder streams(StreamListener listener) {
      streams = listener;
      return this;
    }

    public Builder name(String value) {
      name = value;
      return this;
    }

    /// Widens the send window to one slice if it is smaller.
    public Builder maxSliceBytes(int value) {
      maxSliceBytes = value;
      sendWindowBytes = Math.max(sendWindowBytes, value);
      return this;
    }

    public Builder windowBlocks(int value) {
      windowBlocks = value;
      return this;
    }

    public Builder order(SliceShape.Order value) {
      order = value;
      return this;
    }

    public Builder startLayer(int value) {
      startLayer = value;
      return this;
    }

    public Builder creditSlices(int value) {
      creditSlices = value;
      return this;
    }

    public Builder sendWindowBytes(long value) {
      sendWindowBytes = value;
      return this;
    }

    public Builder credentials(Credentials value) {
      credentials = value;
      return this;
    }

    public Builder keepAlive(Duration interval, Duration timeout) {
      keepAlive = interval;
      keepAliveTimeout = timeout;
      return this;
    }

    public Builder timers(Scheduler value) {
      timers = value;
      return this;
    }

    public Builder connectTimeout(Duration value) {
      connectTimeout = value;
      return this;
    }

    public Builder answerTimeout(Duration value) {
      answerTimeout = value;
      return this;
    }

    /// What may carry slices, the preferred one first. Connecting fails with `CarrierUnavailableException` if the only
    /// one is not available.
    public Builder carriers(Carrier... wanted) {
      carriers = List.of(wanted);
      return this;
    }

    /// Uses a read ring where there is shared memory: gets of at most 16 blocks that the node has cost no frames, and
    /// [KvClient#borrow] reads without a copy. It costs a thread at either end.
    ///
    /// @param spin longest spin of these threads before they sleep, at the node no longer than that allows; zero for
    ///     none. A thread that spins takes a processor
    public Builder ring(Duration spin) {
      ringSpin = spin;
      return this;
    }

    /// @throws IllegalArgumentException naming the option that is out of range
    public KvClientOptions build() {
      return new KvClientOptions(name, maxSliceBytes, windowBlocks, order, startLayer, creditSlices, sendWindowBytes,
          credentials, keepAlive, keepAliveTimeout, connectTimeout, answerTimeout, timers, carriers, ringSpin, streams);
    }
  }
}
