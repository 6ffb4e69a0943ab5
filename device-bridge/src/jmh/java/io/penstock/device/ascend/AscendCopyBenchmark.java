package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// A batch of copies to a device through the whole bridge (request, queue, thread of the device, FFM, the double of the
/// driver), beside a loop in C that calls the same double with the same arguments, and beside `memcpy` of the C
/// library. Time a batch; the bridge's cost of an element is the difference of the first two divided by the elements.
/// The double records nothing meanwhile.
///
/// `mvn -Pjmh -pl device-bridge -am verify -Djmh.include=AscendCopyBenchmark -Djmh.args="-prof gc"`
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class AscendCopyBenchmark {
  /// Elements and bytes of each.
  @Param({"4096x64", "4096x65536", "256x1048576"})
  public String shape = "4096x64";

  private WaysToCopy ways;
  private CopyRequest request;

  @Setup
  public void open() throws Throwable {
    int elements = Integer.parseInt(shape.substring(0, shape.indexOf('x')));
    ways = new WaysToCopy(elements, Long.parseLong(shape.substring(shape.indexOf('x') + 1)));
    request = ways.request(elements);
  }

  @TearDown
  public void close() {
    ways.close();
  }

  @Benchmark
  public CopyReport bridge() {
    CopyReport report = requireNonNull(ways.device().copy(request.again()).block());
    if (!report.isComplete()) {
      throw new IllegalStateException(report.toString());
    }
    return report;
  }

  @Benchmark
  public int loopInC() throws Throwable {
    int code = ways.loopInC(1);
    if (code != 0) {
      throw new IllegalStateException("code must be 0 (was " + code + ")");
    }
    return code;
  }

  @Benchmark
  public void memcpyInC() throws Throwable {
    ways.memcpyInC(1);
  }
}
