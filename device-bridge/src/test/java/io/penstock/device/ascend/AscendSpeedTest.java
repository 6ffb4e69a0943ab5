package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.CopyTurns;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;

/// What the bridge costs beside C: batches by turns through the bridge, in a loop in C that makes the same call to the
/// same double, and by `memcpy` alone, so that a machine that is shared is as slow for one as for the others. Medians.
/// Through the bridge, bandwidth is that of a few batches one behind the other, as they come from a node; a batch alone
/// pays for waking the thread of an idle device.
@Tag("proof")
@Timeout(300)
final class AscendSpeedTest {
  private static final int ROUNDS = 61;
  private static final int WARM_UP = 10;
  /// Batches a turn.
  private static final int BATCHES = 4;

  /// Batches of one size, and the time of each way to copy them.
  private static final class Batch implements AutoCloseable {
    private final Arena memory = Arena.ofShared();
    private final int elements;
    private final long bytes;
    private final WaysToCopy ways;
    private final List<CopyRequest> requests;
    private final CopyRequest first;
    private final MemorySegment scrub = memory.allocate(128 << 20, 4096);

    Batch(int elements, long bytes) throws Throwable {
      this.elements = elements;
      this.bytes = bytes;
      this.ways = new WaysToCopy(elements, bytes);
      this.requests = Stream.generate(() -> ways.request(elements)).limit(BATCHES).toList();
      this.first = ways.request(1);
    }

    /// With nothing of the batch in a cache, whichever way came before.
    private Batch scrubbed() {
      if (bytes > 4096) {
        scrub.fill((byte) elements);
      }
      return this;
    }

    private long alone(CopyRequest request) {
      long began = System.nanoTime();
      assertThat(requireNonNull(ways.device().copy(request.again()).block()).failed()).isZero();
      return System.nanoTime() - began;
    }

    private long bridge() {
      long began = System.nanoTime();
      CopyTurns turns = ways.device().turns();
      Flux.fromIterable(requests).map(CopyRequest::again)
          .flatMap(request -> turns.take(turn -> ways.device().copy(request.hold(turn))), turns.limit(), 1)
          .doOnNext(report -> assertThat(report.failed()).isZero()).blockLast();
      return (System.nanoTime() - began) / BATCHES;
    }

    private long loopInC() throws Throwable {
      long began = System.nanoTime();
      assertThat(ways.loopInC(BATCHES)).isZero();
      return (System.nanoTime() - began) / BATCHES;
    }

    private long memcpyInC() throws Throwable {
      long began = System.nanoTime();
      ways.memcpyInC(BATCHES);
      return (System.nanoTime() - began) / BATCHES;
    }

    /// Median nanoseconds a batch of each way.
    Map<String, Long> measure() throws Throwable {
      String[] names = {"bridge", "bridge, a batch alone", "bridge, an element alone", "loop in C", "memcpy in C"};
      long[][] nanos = new long[names.length][ROUNDS];
      for (int i = -WARM_UP; i < ROUNDS; i++) {
        long[] now =
            {scrubbed().bridge(), scrubbed().alone(requests.getFirst()), scrubbed().alone(first), scrubbed().loopInC(),
              scrubbed().memcpyInC()};
        for (int way = 0; i >= 0 && way < now.length; way++) {
          nanos[way][i] = now[way];
        }
      }
      Map<String, Long> medians = new TreeMap<>();
      for (int way = 0; way < names.length; way++) {
        Arrays.sort(nanos[way]);
        medians.put(names[way], nanos[way][ROUNDS / 2]);
      }
      return medians;
    }

    @Override
    public void close() {
      ways.close();
      memory.close();
    }
  }

  @ParameterizedTest
  @CsvSource({"4096, 65536", "256, 1048576"})
  void bandwidth_isThatOfMemcpyOrNearly(int elements, long bytes) throws Throwable {
    try (Batch batch = new Batch(elements, bytes)) {
      Map<String, Long> nanos = batch.measure();
      double share = (double) nanos.get("memcpy in C") / nanos.get("bridge");
      System.out.printf(Locale.ROOT, "%d x %d bytes: %s ns, %.3f of memcpy%n", elements, bytes, nanos, share);
      assertThat(share).as("share of memcpy's bandwidth, %s", nanos).isGreaterThanOrEqualTo(0.9);
    }
  }

  @ParameterizedTest
  @CsvSource("4096, 64")
  void element_costsLittleMoreThanInC(int elements, long bytes) throws Throwable {
    try (Batch batch = new Batch(elements, bytes)) {
      for (int i = 0; i < 20; i++) {
        batch.measure();
      }
      Map<String, Long> nanos = batch.measure();
      double more = (double) (nanos.get("bridge") - nanos.get("loop in C")) / elements;
      System.out.printf(Locale.ROOT, "%d x %d bytes: %s ns, %.1f ns an element more than in C%n", elements, bytes,
          nanos, more);
      assertThat(more).as("%s", nanos).isLessThan(25);
    }
  }
}
