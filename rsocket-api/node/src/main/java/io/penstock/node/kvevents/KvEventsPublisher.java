package io.penstock.node.kvevents;

import io.penstock.block.CacheSpace;
import io.penstock.check.InternetAddress;
import io.penstock.node.text.Reason;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/// Publishes the changes of a tier's blocks as vLLM's KV events.
///
/// A message has three frames: topic, number of the batch (8 bytes, big-endian), batch. A publisher begins with a
/// snapshot: `AllBlocksCleared`, then the blocks that are there. It sends a snapshot again when it fell behind the
/// tier, when a level went down or came back, and when a consumer asks to replay batches that are no longer kept. So a
/// consumer that sees all numbers, or requests a replay of the missing ones, is right; and a consumer that missed too
/// much becomes right again. It ends with `AllBlocksCleared`.
///
/// - Threads: one for each socket, because sockets must not be shared.
/// - Backpressure: the queue of events has 1,024 places; a publisher that is slow falls behind the tier's log.
public final class KvEventsPublisher {
  private static final Logger LOG = LoggerFactory.getLogger(KvEventsPublisher.class);
  private static final int ROOM = 1024;
  private static final int BATCH = 64;
  private static final Duration PATIENCE = Duration.ofMillis(50);
  private static final int LINGER_MILLIS = 200;
  /// Maximum number of answers that wait for one consumer; it misses further ones. The socket learns late what was
  /// read.
  private static final int REPLAYS = 8;

  private final BlockTier tier;
  private final KvEventsOptions options;
  private final InstantSource clock;
  private final LongSupplier nanos;
  private final KvEncoder encoder;
  private final KvTokens tokens;
  private final KvTranslator translator;
  private final KvBatches batches;
  private final byte[] topic;
  private final ZMQ.Context context = ZMQ.context(1);
  private final ZMQ.Socket publisher;
  private final int port;
  private final @Nullable KvReplay replay;
  private final OptionalInt replayPort;
  private final List<ZMQ.Socket> sockets = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;
  private volatile boolean consumerLost;

  // Written by the publishing thread
  private KvFeed feed = new KvFeed(ROOM);
  private long lastSnapshot;
  private final AtomicLong published = new AtomicLong();
  private final AtomicLong snapshots = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  /// Number of the newest change of this feed; −1 before the first.
  private long lastChange = -1;

  private KvEventsPublisher(BlockTier tier, KvEventsOptions options, InstantSource clock, LongSupplier nanos)
      throws IOException {
    this.tier = tier;
    this.options = options;
    this.clock = clock;
    this.nanos = nanos;
    CacheSpace space = tier.info().space();
    this.encoder = new KvEncoder(options.layout(), options.hashes(), space.group().strideTokens(space.layout()),
        space.group().number());
    this.tokens = new KvTokens(options.tokens());
    this.translator = new KvTranslator(tokens);
    this.batches = new KvBatches(options.steps());
    this.topic = options.topic().getBytes(StandardCharsets.UTF_8);
    try {
      this.publisher = bound(SocketType.PUB, options.port(), options.highWater());
      this.port = port(publisher);
      ZMQ.Socket router = options.replayPort().isPresent()
          ? bound(SocketType.ROUTER, options.replayPort().getAsInt(), REPLAYS * (options.steps() + 1))
          : null;
      this.replay = router == null ? null : new KvReplay(router, batches, () -> consumerLost = true);
      this.replayPort = router == null ? OptionalInt.empty() : OptionalInt.of(port(router));
    } catch (IOException e) {
      sockets.forEach(ZMQ.Socket::close);
      context.close();
      throw e;
    }
  }

  /// Listens, and publishes until [#close].
  ///
  /// @param clock of the time in each batch
  /// @param nanos clock of the time between snapshots
  public static KvEventsPublisher start(BlockTier tier, KvEventsOptions options, InstantSource clock,
      LongSupplier nanos) throws IOException {
    KvEventsPublisher publisher = new KvEventsPublisher(tier, options, clock, nanos);
    publisher.run("penstock-kv-events", publisher::publish);
    if (publisher.replay != null) {
      publisher.run("penstock-kv-replay", publisher.replay);
    }
    return publisher;
  }

  private void run(String name, Runnable task) {
    Thread thread = Thread.ofPlatform().daemon().name(name).unstarted(task);
    threads.add(thread);
    thread.start();
  }

  private ZMQ.Socket bound(SocketType type, int at, int highWater) throws IOException {
    ZMQ.Socket socket = context.socket(type);
    sockets.add(socket);
    socket.setLinger(LINGER_MILLIS);
    socket.setSndHWM(highWater);
    boolean isV6 = options.host().contains(":");
    socket.setIPv6(isV6);
    if (!isV6) {
      socket.setSelectorChooser((place, all) -> new Ipv4Sockets());
    }
    String address = "tcp://%s:%s".formatted(InternetAddress.bracketed(options.host()),
        at == 0 ? "*" : String.valueOf(at));
    try {
      socket.bind(address);
      return socket;
    } catch (ZMQException e) {
      throw new IOException(Reason.after("%s must be a free port of an address of this machine (was %s)".formatted(
          type == SocketType.PUB ? "kv.events.port" : "kv.events.replay.port", address), e), e);
    }
  }

  private static int port(ZMQ.Socket socket) {
    String endpoint = socket.getLastEndpoint();
    return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
  }

  /// First frame of each message.
  public String topic() {
    return options.topic();
  }

  /// Port of the PUB socket.
  public int port() {
    return port;
  }

  /// Port of the ROUTER socket.
  public OptionalInt replayPort() {
    return replayPort;
  }

  /// Token ids for the events: a put adds those of its blocks before they become visible.
  public KvTokens tokens() {
    return tokens;
  }

  /// Number of published changes of the tier.
  public long published() {
    return published.get();
  }

  /// Snapshots that were begun.
  public long snapshots() {
    return snapshots.get();
  }

  /// Changes of the tier that a snapshot stands for, because the publisher fell behind.
  public long dropped() {
    return dropped.get();
  }

  /// Batches sent again.
  public long replayed() {
    return replay == null ? 0 : replay.replayed();
  }

  private void publish() {
    try {
      begin();
      while (!stopped && !feed.isOver()) {
        step(feed.take(BATCH, PATIENCE));
      }
      feed.cancel();
      translator.clear();
      send();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.error("KV events are no longer published", e);
    } finally {
      feed.cancel();
      publisher.close();
    }
  }

  private void step(List<TierEvent> events) {
    for (TierEvent event : events) {
      count(event);
      translator.add(event);
      if (event instanceof TierEvent.LevelDown || event instanceof TierEvent.LevelUp) {
        send();
        begin();
        return;
      }
    }
    send();
    if (consumerLost && nanos.getAsLong() - lastSnapshot >= options.between().toNanos()) {
      begin();
    }
  }

  /// Requests a new snapshot from the tier.
  private void begin() {
    feed.cancel();
    consumerLost = false;
    lastSnapshot = nanos.getAsLong();
    lastChange = -1;
    feed = new KvFeed(ROOM);
    tier.follow().subscribe(feed);
  }

  private void count(TierEvent event) {
    if (event instanceof TierEvent.SnapshotStarted) {
      snapshots.incrementAndGet();
      dropped.addAndGet(lastChange < 0 ? 0 : event.sequence() - lastChange);
    } else if (!(event instanceof TierEvent.Present || event instanceof TierEvent.SnapshotEnded)) {
      published.incrementAndGet();
    }
    lastChange = event.sequence();
  }

  private void send() {
    List<KvEvent> events = translator.taken();
    if (!events.isEmpty()) {
      byte[] payload = encoder.pack(clock.millis() / 1000.0, events);
      long sequence = batches.add(payload);
      publisher.sendMore(topic);
      publisher.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence).array());
      publisher.send(payload);
    }
  }

  /// Publishes that all blocks are cleared, and ends the threads and sockets. Waits for them. Idempotent.
  public void close() {
    stopped = true;
    try {
      threads.getFirst().join();
      context.close(); // ends the replay, which closes its socket
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
