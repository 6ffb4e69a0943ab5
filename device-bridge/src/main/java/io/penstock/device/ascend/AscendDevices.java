package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import io.penstock.device.ascend.AscendProbe.DeviceFacts;
import io.penstock.device.ascend.acl.AclLibrary;
import io.penstock.device.ascend.acl.AclRuntime;
import io.penstock.device.ascend.failure.LibraryMismatchException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.Logger;
import reactor.util.Loggers;

/// The devices that a `libascendcl.so` has for this process. Found by [#find], once in a process; the library is
/// initialised then, and finalised when this and every device that it opened are closed.
public final class AscendDevices {
  /// Environment variable with the path of the library, used where the options name none.
  public static final String LIBRARY_VARIABLE = "PENSTOCK_ASCEND_LIB";

  private static final String LIBRARY_NAME = "libascendcl.so";
  private static final Logger LOG = Loggers.getLogger(AscendDevices.class);

  private final AclRuntime runtime;
  private final AscendOptions options;
  private final AscendListener listener;
  private final boolean ours;
  /// Numbers that the library has for the devices that are used.
  private final List<Integer> numbers;
  /// Devices that are open, and one for this.
  private final AtomicInteger users = new AtomicInteger(1);
  private final Mono<Void> close;

  private AscendDevices(AclLibrary library, AscendOptions options, AscendListener listener) {
    this.runtime = new AclRuntime(library);
    this.options = options;
    this.listener = listener;
    this.ours = runtime.begin();
    this.numbers = numbers();
    this.close = Mono.<Void>fromRunnable(this::leave).cache();
  }

  private List<Integer> numbers() {
    try {
      List<Integer> all = IntStream.range(0, runtime.devices()).boxed().toList();
      return options.visibleDevices().isEmpty()
          ? all
          : options.visibleDevices().stream().map(id -> number(id, all)).toList();
    } catch (RuntimeException e) {
      end();
      throw e;
    }
  }

  private int number(int physicalId, List<Integer> all) {
    return all.stream().filter(number -> runtime.physicalId(number) == physicalId).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            "visibleDevices must be of this machine and process, %s (was %d)"
                .formatted(all.stream().map(runtime::physicalId).toList(), physicalId)));
  }

  /// Loads and initialises the library: from the path in the options, else from the environment's, else where the
  /// system's loader finds it. Blocks: not for an event loop.
  ///
  /// @return empty without a library in that place; a line in the log names the place
  /// @throws LibraryMismatchException if the library there cannot be used
  /// @throws IllegalArgumentException if the options name a device that does not exist
  public static Optional<AscendDevices> find(AscendOptions options, AscendListener listener) {
    requireNonNull(listener, "listener");
    String path = lookedFor(options);
    AclLibrary library = AclLibrary.load(path);
    if (library == null) {
      if (!path.equals(LIBRARY_NAME) && Files.exists(Path.of(path))) {
        throw new LibraryMismatchException("library " + path + " cannot be loaded by this system");
      }
      LOG.info("no Ascend devices: looked for {}{}", path, path.equals(LIBRARY_NAME)
          ? " where the system looks for libraries; name another with " + LIBRARY_VARIABLE
          : "");
      return Optional.empty();
    }
    return Optional.of(new AscendDevices(library, options, listener));
  }

  /// Path of the library that [#find] looks for, or its name if the loader is to find it.
  public static String lookedFor(AscendOptions options) {
    return options.library()
        .or(() -> Optional.ofNullable(System.getenv(LIBRARY_VARIABLE)).filter(path -> !path.isBlank()))
        .map(AscendDevices::inFolder).orElse(LIBRARY_NAME);
  }

  /// A plain file name is a path here; the system's loader would search its own folders for it.
  private static String inFolder(String path) {
    Path file = Path.of(path);
    return file.getParent() == null && Files.exists(file) ? file.toAbsolutePath().toString() : path;
  }

  public int count() {
    return numbers.size();
  }

  /// The library's name of the chip; empty if it has none.
  public String socName() {
    return runtime.socName();
  }

  /// Path of the library, or its name.
  public String library() {
    return runtime.library().path();
  }

  /// The functions for `feature` that the library lacks.
  public List<String> missing(AscendFeature feature) {
    return feature.missing(runtime.library());
  }

  public AclLibrary symbols() {
    return runtime.library();
  }

  /// Opens a device with a platform thread of its own, which ends when the device was closed.
  ///
  /// @param logicalId in [0, [#count]), among the visible devices; the rank in the tensor-parallel group on this host,
  ///     not the global one
  /// @return cold; signals an `AscendFailure`
  /// @throws IllegalArgumentException if there is no such device
  public Mono<AscendDevice> open(int logicalId) {
    if (logicalId < 0 || logicalId >= count()) {
      throw new IllegalArgumentException("logicalId must be in [0, " + count() + ") (was " + logicalId + ")");
    }
    int number = numbers.get(logicalId);
    return Mono.defer(() -> {
      enter();
      Scheduler thread = Schedulers.newSingle("penstock-npu-" + number, true);
      return open(number, thread);
    });
  }

  private Mono<AscendDevice> open(int number, Scheduler thread) {
    return Mono.create(sink -> {
      AtomicBoolean ended = new AtomicBoolean();
      sink.onCancel(() -> ended.set(true));
      thread.schedule(() -> {
        try {
          AscendDevice device = new AscendDevice(number, runtime, options, thread, listener, () -> closed(thread));
          if (ended.compareAndSet(false, true)) {
            sink.success(device);
          } else {
            closeUnheard(device);
          }
        } catch (Throwable e) { // also after a cancel
          closed(thread, e);
          sink.error(e);
        }
      });
    });
  }

  private void closed(Scheduler thread, Throwable failure) {
    try {
      closed(thread);
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private static void closeUnheard(AscendDevice device) {
    device.close().subscribe(null,
        error -> LOG.warn("device {} was opened after a cancel and could not be closed", device.name(), error));
  }

  private void enter() {
    if (users.getAndUpdate(before -> before == 0 ? 0 : before + 1) == 0) {
      throw new IllegalStateException("devices must be open (were closed)");
    }
  }

  private void closed(Scheduler thread) {
    try {
      leave();
    } finally {
      thread.dispose();
    }
  }

  private void leave() {
    if (users.decrementAndGet() == 0) {
      end();
    }
  }

  private void end() {
    if (ours) {
      runtime.end();
    }
  }

  /// Asks the library, and opens each device once, one after the other.
  ///
  /// @return cold; signals an `AscendFailure`
  public Mono<AscendProbe> probe() {
    return Flux.range(0, count()).concatMap(id -> open(id).flatMap(AscendDevices::facts), 0).collectList()
        .map(devices -> new AscendProbe(library(), socName(), AscendProbe.release(symbols()), devices,
            AscendProbe.features(symbols())));
  }

  private static Mono<DeviceFacts> facts(AscendDevice device) {
    long free = device.capacityBytes();
    return device.close()
        .thenReturn(new DeviceFacts(device.ordinal(), device.physicalId(), free == Long.MAX_VALUE ? -1 : free));
  }

  /// Finalises the library when the last device was closed; closing devices stays with the caller. Lazy and idempotent.
  public Mono<Void> close() {
    return close;
  }

  @Override
  public String toString() {
    return count() + " devices of " + runtime.library();
  }
}
