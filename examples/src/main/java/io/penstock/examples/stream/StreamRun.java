package io.penstock.examples.stream;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.penstock.block.LayerSlice;
import io.penstock.block.SlabArena;
import io.penstock.node.admin.ResidentMemory;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stage.Pace;
import io.penstock.stage.Stage;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.report.RecordedConnections;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// A node that makes a stream on demand, a slow reader over loopback TCP, the gauges of both ends, and at will a second
/// reader.
final class StreamRun {
  private static final int SLOW = 0;
  private static final int SECOND = 1;
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  /// Slots of the tier's arena: two windows for each reader.
  private static final int SLACK_BLOCKS = 4 * Shape.WINDOW_BLOCKS;

  private final StreamOptions options;
  private final LoopResources loops;
  private final Scheduler timers;
  private final @Nullable TierRecording recording;
  private final SlabArena source;
  private final GeneratingTier tier;
  private final List<ConnectionGauges> nodeEnds = new CopyOnWriteArrayList<>();
  private final List<ConnectionGauges> readerEnds = new CopyOnWriteArrayList<>();
  private final List<Sample> samples = new ArrayList<>();

  /// The loops and the scheduler are the caller's to dispose.
  ///
  /// @param recording of the connections and of what the readers read; null for none
  StreamRun(StreamOptions options, LoopResources loops, Scheduler timers, @Nullable TierRecording recording) {
    this.recording = recording;
    this.options = options;
    this.loops = loops;
    this.timers = timers;
    int slots = 2 * ((int) (options.budgetBytes() / Shape.BLOCK_BYTES) + SLACK_BLOCKS);
    this.source = new SlabArena("source", Shape.LAYOUT, slots, 64);
    this.tier = new GeneratingTier(Shape.SPACE, source, options.seed(), 2, Shape.WINDOW_BLOCKS);
  }

  /// Runs to the end; waits, so never call it from a thread that must not block.
  ///
  /// @param watcher receives every sample, on a thread of `timers`
  StreamReport run(Consumer<Sample> watcher) {
    KvServer node =
        get(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops, keeping(nodeEnds)), tier,
            KvServerOptions.defaults().withLimits(Limits.defaults().withMaxSliceBytes(Shape.SLICE_BYTES)),
            new ByteBudget("node", 8 << 20, 16), timers));
    try {
      return run(((TcpListener) node.listening()).address(), watcher);
    } finally {
      node.close().then(tier.close()).block(PATIENCE);
      source.close();
    }
  }

  private StreamReport run(SocketAddress address, Consumer<Sample> watcher) {
    Reader slow = connect(address, SLOW);
    Reader second = connect(address, SECOND);
    try {
      double alone = options.second().isZero() ? 0 : secondRate(second);
      long start = timers.now(TimeUnit.NANOSECONDS);
      Mono<Double> beside = options.second().isZero()
          ? Mono.just(0.0)
          : Mono.delay(Duration.ofMillis((long) (1000 * StreamReport.SETTLED)), timers).then(measured(second));
      Mono<Double> looks = Flux.interval(Duration.ZERO, options.sampleEvery(), timers).onBackpressureDrop()
          .doOnNext(tick -> look(slow, start, watcher)).then(Mono.never());
      Mono<Double> reads = slow.read(options.streamBytes(), options.duration(), paced(), timers)
          .then(Mono.just(true)).zipWith(beside.subscribeOn(timers), (done, rate) -> rate);
      // Looks only fail
      double besideRate = get(Mono.firstWithSignal(looks, reads), options.duration().multipliedBy(2));
      return report(slow, second, secondsSince(start), alone, besideRate);
    } finally {
      slow.close().then(second.close()).block(PATIENCE);
    }
  }

  private Reader connect(SocketAddress address, int stream) {
    return get(Reader.connect(TcpTransport.client(TcpClientOptions.to(address), loops, keeping(readerEnds)), stream,
        options.seed(), options.budgetBytes(), RecordOptions.flow(recording, "stream " + stream)));
  }

  private Stage<LayerSlice, LayerSlice> paced() {
    return Pace.bytes(LayerSlice::bytes, Pace.Options.of(options.bytesPerSecond()), timers);
  }

  /// The first run warms the code up: the two that are compared must be equally warm.
  private double secondRate(Reader second) {
    get(measured(second), options.second());
    return get(measured(second), options.second());
  }

  private Mono<Double> measured(Reader second) {
    return Mono.defer(() -> {
      long start = timers.now(TimeUnit.NANOSECONDS);
      long before = second.readBytes();
      return second.read(Shape.MOST_STREAM_BYTES, options.second(), slices -> slices, timers)
          .then(Mono.fromSupplier(() -> (second.readBytes() - before) / secondsSince(start)));
    });
  }

  private void look(Reader slow, long start, Consumer<Sample> watcher) {
    ConnectionGauges nodeEnd = nodeEnds.get(SLOW);
    long made = tier.madeBytes(SLOW); // before what is read, and written before received: a look never counts too much
    long read = slow.readBytes();
    long sent = nodeEnd.writtenBytes() + nodeEnd.queuedBytes();
    long network = Math.max(0, sent - readerEnds.get(SLOW).readBytes());
    Sample sample = new Sample(secondsSince(start), made, read, slow.budget().inUseBytes(), network,
        slow.arena().claimedSlots() * Shape.BLOCK_BYTES, source.claimedSlots() * Shape.BLOCK_BYTES, nettyBytes(),
        (long) ResidentMemory.bytes()); // 0 of no number
    synchronized (samples) {
      samples.add(sample);
    }
    watcher.accept(sample);
  }

  private StreamReport report(Reader slow, Reader second, double seconds, double alone, double beside) {
    List<Sample> seen;
    synchronized (samples) {
      seen = List.copyOf(samples);
    }
    return new StreamReport(options.bytesPerSecond(), seconds, slow.readBytes(), tier.madeBytes(SLOW),
        slow.budget().peakBytes(), options.budgetBytes(), most(seen, Sample::networkBytes),
        most(seen, Sample::heldBytes),
        options.boundBytes(), slow.arena().highWaterSlots() * Shape.BLOCK_BYTES, span(seen, Sample::residentBytes),
        span(seen, Sample::nettyBytes), slow.wrongSpans() + second.wrongSpans(),
        leaks(slow) + leaks(second) + source.claimedSlots(),
        alone, beside, seen);
  }

  private static long leaks(Reader reader) {
    return reader.arena().claimedSlots() + reader.budget().inUseBytes();
  }

  private static long most(List<Sample> samples, ToLongFunction<Sample> gauge) {
    return samples.stream().mapToLong(gauge).max().orElse(0);
  }

  private static StreamReport.Span span(List<Sample> samples, ToLongFunction<Sample> gauge) {
    long[] settled =
        samples.stream().filter(sample -> sample.seconds() >= StreamReport.SETTLED).mapToLong(gauge).toArray();
    return new StreamReport.Span(LongStream.of(settled).min().orElse(0), LongStream.of(settled).max().orElse(0));
  }

  private double secondsSince(long start) {
    return (timers.now(TimeUnit.NANOSECONDS) - start) / 1e9;
  }

  private static long nettyBytes() {
    return ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider told
        ? told.metric().usedDirectMemory()
        : 0;
  }

  private ConnectionListener keeping(List<ConnectionGauges> ends) {
    return RecordedConnections.of(new ConnectionListener() {
      @Override
      public void opened(ConnectionGauges connection) {
        ends.add(connection);
      }
    }, recording == null ? null : recording.recorder());
  }

  private static <T> T get(Mono<T> outcome) {
    return get(outcome, Duration.ZERO);
  }

  private static <T> T get(Mono<T> outcome, Duration expected) {
    return outcome.blockOptional(PATIENCE.plus(expected)).orElseThrow();
  }
}
