package io.penstock.wire.server;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.credit.Rates;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.region.RegionFolder;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.security.Access;
import io.penstock.wire.transport.AdvertisedEndpoints;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// How a [KvServer] serves.
///
/// @param node name told to clients
/// @param limits what a request may ask for
/// @param sendWindowBytes most bytes of slices a connection that wait for its socket: what a reader that takes nothing
///     holds of the node's budget
/// @param maxStreams most streams of slices a connection
/// @param windowsAhead windows of a put that are announced before the first of them is complete
/// @param awaitTimeout longest wait of a `get` for a block that is being written; a prefill rank waits at least as long
///     as its receivers do for a first byte
/// @param stallTimeout how long a client may keep a stream from moving: a `get` whose reader gives no credit or takes
///     nothing from its socket, a `put` that has credit and sends nothing, or either moves fewer than 32 KiB a second;
///     more than that and less than twice that ends the stream
/// @param idleGrace how long such a stream may stand still while another connection finds no room at all, and this one
///     has more than that would take; five times as long if it has as much
/// @param mostLifetime longest silence, without even a keep-alive frame, after which a client may ask the node to take
///     it for lost
/// @param requestBytes most bytes that the messages of all running requests have, as they came; their objects take
///     about 16 times as much of the heap at worst. A connection has no more of it than it leaves to others
/// @param putBlocks most blocks of open windows of puts, over all connections; not more than the tier has memory for
/// @param carriers what may carry slices: frames always may, so it says whether shared memory may
/// @param rings most read rings of clients, which have a thread each and lease half of the tier's blocks in host memory
///     together; a node with rates has none
/// @param ringSpin longest spin of such a thread before it sleeps, for clients that wish it; zero for none
/// @param endpoints where clients can reach the node, told at hello
/// @param access who may connect, and what each user may do
/// @param streams hears of each stream of slices that ended
/// @param rates how fast each connection may ask and move bytes
/// @param regions where the node finds shared memory of its clients that it maps; null for nowhere
/// @param doors tells what doors for other protocols did, for `stat`
/// @param generation differs from start to start of a node, so that a reader of events sees that they are numbered anew
public record KvServerOptions(String node, Limits limits, long sendWindowBytes, int maxStreams, int windowsAhead,
    Duration awaitTimeout, Duration stallTimeout, Duration idleGrace, Duration mostLifetime, long requestBytes,
    int putBlocks,
    List<Carrier> carriers, int rings, Duration ringSpin, AdvertisedEndpoints endpoints, Access access,
    StreamListener streams, Rates rates, @Nullable RegionFolder regions, Supplier<List<ServerStat.Door>> doors,
    long generation) {
  public KvServerOptions {
    requireNonNull(doors, "doors");
    requireNonNull(node, "node");
    requireNonNull(limits, "limits");
    requireNonNull(endpoints, "endpoints");
    requireNonNull(access, "access");
    requireNonNull(streams, "streams");
    requireNonNull(rates, "rates");
    if (rates.bytes() > 0 && rates.bytes() < limits.maxSliceBytes()) {
      throw new IllegalArgumentException(
          "rates.bytes must be >= maxSliceBytes " + limits.maxSliceBytes() + " (was " + rates.bytes() + ")");
    }
    if (sendWindowBytes < limits.maxSliceBytes()) {
      throw new IllegalArgumentException(
          "sendWindowBytes must be >= maxSliceBytes " + limits.maxSliceBytes() + " (was " + sendWindowBytes + ")");
    }
    Checks.positive("maxStreams", maxStreams);
    Checks.positive("windowsAhead", windowsAhead);
    Checks.positive("awaitTimeout", awaitTimeout);
    Checks.positive("stallTimeout", stallTimeout);
    Checks.atLeastOneMilli("idleGrace", idleGrace);
    Checks.atLeastOneMilli("mostLifetime", mostLifetime);
    Checks.positive("putBlocks", putBlocks);
    carriers = List.copyOf(carriers);
    Checks.notNegative("rings", rings);
    requireNonNull(ringSpin, "ringSpin");
    if (requestBytes < limits.longestRequest()) {
      throw new IllegalArgumentException("requestBytes must be >= " + limits.longestRequest()
          + ", a request of maxKeys " + limits.maxKeys() + " (was " + requestBytes + ")");
    }
  }

  /// The defaults of [#builder()].
  public static KvServerOptions defaults() {
    return builder().build();
  }

  /// Node `penstock`, default limits, 4 MiB a send window, 1,024 streams a connection, 2 windows ahead, 60 s of
  /// waiting, 30 s of standing still (25 ms while others find no room), 5 minutes of silence, 1/256 of the heap (at
  /// least 4 MiB) for messages of requests, 128 blocks of open windows, shared memory and frames, 16 read rings that do
  /// not spin, access for every peer, any rate, no regions of clients, no doors, generation 0.
  public static Builder builder() {
    return new Builder();
  }

  private Builder with() {
    return new Builder().node(node).limits(limits).sendWindowBytes(sendWindowBytes).maxStreams(maxStreams)
        .windowsAhead(windowsAhead).awaitTimeout(awaitTimeout).stallTimeout(stallTimeout).idleGrace(idleGrace)
        .mostLifetime(mostLifetime)
        .requestBytes(requestBytes).putBlocks(putBlocks).carriers(carriers).rings(rings).ringSpin(ringSpin)
        .endpoints(endpoints)
        .access(access).streams(streams).rates(rates).regions(regions).doors(doors)
        .generation(generation);
  }

  /// These options with another listener.
  public KvServerOptions withStreams(StreamListener listener) {
    return with().streams(listener).build();
  }

  public KvServerOptions withNode(String name) {
    return with().node(name).build();
  }

  /// Options with these limits, and with a larger send window and more bytes for requests if the limits need them.
  public KvServerOptions withLimits(Limits other) {
    return with().limits(other).build();
  }

  public KvServerOptions withSendWindowBytes(long bytes) {
    return with().sendWindowBytes(bytes).build();
  }

  public KvServerOptions withWindowsAhead(int windows) {
    return with().windowsAhead(windows).build();
  }

  public KvServerOptions withAwaitTimeout(Duration timeout) {
    return with().awaitTimeout(timeout).build();
  }

  KvServerOptions awaitingAtLeast(Duration least) {
    return awaitTimeout.compareTo(least) >= 0 ? this : withAwaitTimeout(least);
  }

  public KvServerOptions withStallTimeout(Duration timeout) {
    return with().stallTimeout(timeout).build();
  }

  public KvServerOptions withRates(Rates most) {
    return with().rates(most).build();
  }

  /// Builder that starts with the defaults.
  public static final class Builder {
    private String node = "penstock";
    private Limits limits = Limits.defaults();
    private long sendWindowBytes = 4 << 20;
    private int maxStreams = 1024;
    private int windowsAhead = 2;
    private Duration awaitTimeout = Duration.ofSeconds(60);
    private Duration stallTimeout = Duration.ofSeconds(30);
    private Duration idleGrace = Duration.ofMillis(15);
    private Duration mostLifetime = Duration.ofMinutes(5);
    private long requestBytes = Math.max(4 << 20, Runtime.getRuntime().maxMemory() / 256);
    private int putBlocks = 128;
    private Access access = Access.open();
    private List<Carrier> carriers = List.of(Carrier.values());
    private AdvertisedEndpoints endpoints = AdvertisedEndpoints.none();
    private StreamListener streams = StreamListener.noop();
    private Rates rates = Rates.none();
    private @Nullable RegionFolder regions;
    private Supplier<List<ServerStat.Door>> doors = List::of;
    private long generation;
    private int rings = 16;
    private Duration ringSpin = Duration.ZERO;

    private Builder() {}

    public Builder rates(Rates most) {
      rates = most;
      return this;
    }

    public Builder regions(@Nullable RegionFolder folder) {
      regions = folder;
      return this;
    }

    public Builder doors(Supplier<List<ServerStat.Door>> told) {
      doors = told;
      return this;
    }

    public Builder streams(StreamListener listener) {
      streams = listener;
      return this;
    }

    public Builder node(String name) {
      node = name;
      return this;
    }

    /// Raises the send window and the bytes for requests to what `allowed` needs.
    public Builder limits(Limits allowed) {
      limits = allowed;
      sendWindowBytes = Math.max(sendWindowBytes, allowed.maxSliceBytes());
      requestBytes = Math.max(requestBytes, allowed.longestRequest());
      return this;
    }

    public Builder sendWindowBytes(long bytes) {
      sendWindowBytes = bytes;
      return this;
    }

    public Builder maxStreams(int streams) {
      maxStreams = streams;
      return this;
    }

    public Builder windowsAhead(int windows) {
      windowsAhead = windows;
      return this;
    }

    public Builder awaitTimeout(Duration timeout) {
      awaitTimeout = timeout;
      return this;
    }

    public Builder stallTimeout(Duration timeout) {
      stallTimeout = timeout;
      return this;
    }

    public Builder idleGrace(Duration grace) {
      idleGrace = grace;
      return this;
    }

    public Builder mostLifetime(Duration lifetime) {
      mostLifetime = lifetime;
      return this;
    }

    public Builder requestBytes(long bytes) {
      requestBytes = bytes;
      return this;
    }

    public Builder putBlocks(int blocks) {
      putBlocks = blocks;
      return this;
    }

    public Builder access(Access rules) {
      access = rules;
      return this;
    }

    public Builder carriers(List<Carrier> allowed) {
      carriers = allowed;
      return this;
    }

    public Builder rings(int most) {
      rings = most;
      return this;
    }

    public Builder ringSpin(Duration longest) {
      ringSpin = longest;
      return this;
    }

    public Builder endpoints(AdvertisedEndpoints told) {
      endpoints = told;
      return this;
    }

    public Builder generation(long number) {
      generation = number;
      return this;
    }

    public KvServerOptions build() {
      return new KvServerOptions(node, limits, sendWindowBytes, maxStreams, windowsAhead, awaitTimeout, stallTimeout,
          idleGrace, mostLifetime, requestBytes, putBlocks, carriers, rings, ringSpin, endpoints, access, streams,
          rates, regions, doors, generation);
    }
  }
}
