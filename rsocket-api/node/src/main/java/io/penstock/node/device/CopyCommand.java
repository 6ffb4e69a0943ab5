package io.penstock.node.device;

import static java.util.Objects.requireNonNull;

import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.CopyReport;
import io.penstock.device.ascend.CopyRequest;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.option.SizeOption;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Reason;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `penstock device copy`: tries copies.
@Command(
    name = "copy",
    description = {"Makes copies on a device and reports the calls that made them.", "",
      "Ends with 1 if an element failed or, with --verify, arrived with other bytes.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock device copy --elements 10000 --bytes 64KiB --direction h2d --verify", ""})
final class CopyCommand implements Callable<Integer> {
  private final Console console;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Mixin
  private final LibraryOption library;

  @Option(names = "--device", paramLabel = "ID", defaultValue = "0",
      description = "Number of the device in this process. Default: ${DEFAULT-VALUE}")
  private int device;

  @Option(names = "--elements", paramLabel = "N", defaultValue = "4096",
      description = "Copies of one request. Default: ${DEFAULT-VALUE}")
  private int elements;

  @Option(names = "--bytes", paramLabel = "SIZE", defaultValue = "64KiB", converter = SizeOption.class,
      description = "Bytes of each copy. Default: ${DEFAULT-VALUE}")
  private long bytes;

  @Option(names = "--direction", paramLabel = "WAY",
      description = "h2d, d2h, d2d or h2h; h is the host, d the device. Default: h2d")
  private @Nullable CopyWay direction;

  @Option(names = "--mixed", description = "All four ways in one request, element by element.")
  private boolean mixed;

  @Option(names = "--verify", description = "Compare the copies with their sources after the last round.")
  private boolean verify;

  @Option(names = "--rounds", paramLabel = "N", defaultValue = "1",
      description = "Number of rounds; the figure is their median. Default: ${DEFAULT-VALUE}")
  private int rounds;

  @Option(names = "--json", description = "Print the result as one JSON document.")
  private boolean json;

  CopyCommand(Console console) {
    this.console = console;
    this.library = new LibraryOption(console.environment());
  }

  /// What was found.
  ///
  /// @param bytes of each element
  /// @param totalBytes of all of them, a round
  /// @param method `batch`, `single` (a call for each element), or both
  /// @param calls batch calls, as all figures but the speed those of the last round
  /// @param elementsPerCall most elements of one of them
  /// @param singleCalls calls that copied an element each
  /// @param differing elements that arrived with other bytes; −1 without `--verify`
  /// @param gigabytesPerSecond 10⁹ bytes a second, the median of the rounds
  record Result(String library, int elements, long bytes, long totalBytes, String direction, int rounds, String method,
      int calls, int elementsPerCall,
      int singleCalls, int fallbacks, int failed, int code, int differing, double gigabytesPerSecond) {}

  @Override
  public Integer call() {
    requireSizes();
    AscendDevices devices = library.require();
    try (CopyTrial trial = trial(devices)) {
      Result result = run(devices.library(), trial);
      print(result);
      return result.failed() == 0 && result.differing() <= 0 ? ExitCode.OK : ExitCode.FOUND_FAILURE;
    } finally {
      devices.close().block();
    }
  }

  private void requireSizes() {
    require(!mixed || direction == null,
        "--direction must be left out with --mixed, which goes all four ways (was given)");
    require(elements > 0, "--elements must be > 0 (was " + elements + ")");
    require(rounds > 0, "--rounds must be > 0 (was " + rounds + ")");
    require(device >= 0, "--device must be >= 0 (was " + device + ")");
    require(bytes > 0 && bytes <= (1L << 40) / elements,
        "--bytes must be > 0, and those of all elements <= 1 TiB (was " + Sizes.exact(bytes) + ")");
  }

  private CopyWay way() {
    return direction == null ? CopyWay.H2D : direction;
  }

  private void require(boolean rule, String message) {
    if (!rule) {
      throw new ParameterException(spec.commandLine(), message);
    }
  }

  private CopyTrial trial(AscendDevices devices) {
    require(device < devices.count(),
        "--device must be < " + devices.count() + ", the devices of this process (was " + device + ")");
    String all = "%s of %s, %s in all, take twice that of host memory and of the device".formatted(
        Plural.of(elements, "element"), Sizes.exact(bytes),
        Sizes.human((double) bytes * elements));
    console.say(all);
    try {
      return new CopyTrial(requireNonNull(devices.open(device).block(), "device"), elements, bytes,
          i -> mixed ? CopyWay.ofMixed(i) : way());
    } catch (DeviceMemoryExhaustedException | OutOfMemoryError e) {
      throw new UnavailableException(
          Reason.after("memory for --elements x --bytes must be had (was refused): " + all, e), e);
    }
  }

  private Result run(String path, CopyTrial trial) {
    CopyRequest request = trial.request();
    double[] speeds = new double[rounds];
    CopyReport last = null;
    for (int round = 0; round < rounds; round++) {
      long started = System.nanoTime();
      last = trial.run(request.again());
      speeds[round] = (double) request.totalBytes() / Math.max(1, System.nanoTime() - started);
    }
    Arrays.sort(speeds);
    CopyReport report = requireNonNull(last, "round");
    CopyReport.Calls calls = report.calls();
    return new Result(path, elements, bytes, bytes * elements, mixed ? "mixed" : way().name().toLowerCase(Locale.ROOT),
        rounds, method(calls), calls.batches(), calls.largestBatch(), calls.single(), calls.fallbacks(),
        report.failed(), report.code(),
        verify ? trial.differing() : -1, speeds[rounds / 2]);
  }

  private static String method(CopyReport.Calls calls) {
    boolean batch = calls.batched() > 0 && calls.batches() > calls.fallbacks();
    return calls.single() == 0 ? "batch" : batch ? "batch, single" : "single";
  }

  private void print(Result result) {
    if (json) {
      console.json(result);
      return;
    }
    TextTable table = new TextTable("DIRECTION", "ELEMENTS", "BYTES", "TOTAL", "METHOD", "BATCH CALLS", "LARGEST",
        "SINGLE CALLS", "FALLBACKS", "FAILED", "DIFFERING", "GB/S");
    table.row(result.direction(), result.elements(), Sizes.exact(result.bytes()), Sizes.human(result.totalBytes()),
        result.method(), result.calls(), result.elementsPerCall(),
        result.singleCalls(), result.fallbacks(), result.failed(),
        result.differing() < 0 ? "not looked" : result.differing(),
        "%.2f".formatted(result.gigabytesPerSecond()));
    console.out().print(table);
    console.requireHeard();
  }
}
