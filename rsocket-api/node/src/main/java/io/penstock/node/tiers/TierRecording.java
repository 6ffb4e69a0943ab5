package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.disagg.recording.RecordedRequests;
import io.penstock.disagg.request.RequestInputs;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.ProcessSignal;
import io.penstock.node.text.Json;
import io.penstock.recording.RecordedMachine;
import io.penstock.recording.RecordedTier;
import io.penstock.recording.Recorder;
import io.penstock.recording.Script;
import io.penstock.recording.Turns;
import io.penstock.storage.recording.FlightRecorder;
import io.penstock.storage.recording.RecordingWriter;
import io.penstock.system.LiveClock;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A recording of all tiers of this process, in one order: of everything in a folder, or of what happened last, which
/// is written when something went wrong. It ends before the tiers are closed.
public final class TierRecording implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TierRecording.class);
  /// Recordings of what happened last that are kept.
  private static final int MOST_SAVED = 8;
  /// Least time between two of them that are saved because something went wrong.
  private static final Duration BETWEEN = Duration.ofSeconds(10);

  private final RecordingGuard guard;
  private final Runnable end;
  private final LongSupplier missed;
  private final @Nullable FlightRecorder flight;
  private final Turns turns;
  private final Recorder recorder;
  private final AtomicInteger tiers = new AtomicInteger();
  private final AtomicInteger ranks = new AtomicInteger();
  private final AtomicBoolean saving = new AtomicBoolean();
  private final AtomicLong nextSave = new AtomicLong(Long.MIN_VALUE);

  private TierRecording(Script script, Runnable end, LongSupplier missed, @Nullable FlightRecorder flight) {
    this.flight = flight;
    this.end = end;
    this.missed = missed;
    this.guard = new RecordingGuard(script, this::wentWrong);
    this.turns = new Turns(LiveClock.process()::nanos, guard);
    this.recorder = new Recorder(turns);
  }

  /// Begins a recording of everything.
  ///
  /// @param folder made if it is not there; must be empty
  public static TierRecording begin(Path folder) {
    return begin(folder, RecordingWriter.Options.defaults(), "");
  }

  /// @param configuration of the process, as JSON without secrets; empty for none
  public static TierRecording begin(Path folder, RecordingWriter.Options options, String configuration) {
    RecordingWriter writer = RecordingWriter.begin(folder, options, configuration);
    return new TierRecording(writer, writer::close, writer::missed, null);
  }

  /// Begins to keep what happened last, see [#save].
  ///
  /// @param folder that gets a folder for each recording that is saved
  public static TierRecording last(Path folder, FlightRecorder.Options options, String configuration) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    FlightRecorder recorder = FlightRecorder.begin(folder, options, configuration);
    return new TierRecording(recorder, recorder::close, () -> 0, recorder);
  }

  /// Records the signals of flows into this recording.
  public Recorder recorder() {
    return recorder;
  }

  /// Records the requests that a prefill rank keeps.
  ///
  /// @param name of the rank
  public RequestInputs requests(String name) {
    return new RecordedRequests(new RecordedMachine(turns, ranks.getAndIncrement()), name);
  }

  /// Opens a tier of `plan` that is recorded.
  ///
  /// @param preparedBytes of its memory that are there before its first use
  RecordedTier open(TierPlan plan, long preparedBytes, TierInputs inputs, List<BlockStore> stores,
      RecordedTier.Opening opening) {
    int number = tiers.getAndIncrement();
    CacheSpace space = plan.space();
    String standIn = space.tenantSalt().isEmpty() ? "" : "recorded " + number;
    if (!standIn.isEmpty()) {
      guard.rename(space.id(), TierWords.named(space, standIn).id());
    }
    return RecordedTier.open(turns, number,
        Json.MAPPER.writeValueAsString(TierWords.of(plan, stores, standIn, preparedBytes)), inputs, stores, opening);
  }

  /// Opens a tier that is recorded.
  ///
  /// @param words what it is, to open it again
  RecordedTier open(String words, List<BlockStore> stores, RecordedTier.Opening opening) {
    return RecordedTier.open(turns, tiers.getAndIncrement(), words, TierInputs.ofSystem(), stores, opening);
  }

  static void requireRecordable(TierPlan plan) {
    if (!plan.space().tenantSalt().isEmpty()) {
      throw new IllegalArgumentException(
          "salt of tier %s must be left out for a recording, which must hold no secret (was given)".formatted(
              plan.name()));
    }
    if (plan.room() != null) {
      throw new IllegalArgumentException(
          "tier %s must be the only one of its memory for a recording (was one of several spaces)".formatted(
              plan.name()));
    }
  }

  /// Events that were left out so far, as the disk did not keep up.
  public long missed() {
    return missed.getAsLong();
  }

  /// Whether [#save] writes what happened last.
  public boolean isLast() {
    return flight != null;
  }

  /// Lets SIGUSR2 write what happened last; does nothing if this records everything.
  public void saveOnSignal() {
    if (!isLast()) {
      return;
    }
    try {
      ProcessSignal.on("USR2", () -> {
        if (JvmEvents.sendSignals()) {
          LOG.warn("SIGUSR2 was ignored: JFR stops threads with this signal to sample them; start the JVM with"
              + " {}=50 in its environment", JvmEvents.SIGNAL);
        } else {
          save("SIGUSR2");
        }
      });
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      LOG.warn("what happened last is written when something goes wrong alone: this platform has no SIGUSR2 for it"
          + " ({})", e.toString());
    }
  }

  /// Writes what happened last, and says where; does nothing while another thread does, or if this records everything.
  ///
  /// @param reason named in the recording
  public void save(String reason) {
    FlightRecorder last = flight;
    if (last == null || !saving.compareAndSet(false, true)) {
      return;
    }
    try {
      Path saved = last.save(reason);
      Path events = JvmEvents.dumpBeside(saved);
      LOG.warn("what happened last was recorded in {}: {}", kept(saved), reason);
      if (events != null) {
        LOG.warn("events of the JVM, for JDK Mission Control, are in {}", events);
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("what happened last could not be recorded: {}", e.toString());
    } finally {
      saving.set(false);
    }
  }

  /// Keeps the newest recordings beside `saved`, whichever process wrote them: their names have the time.
  private static Path kept(Path saved) throws IOException {
    List<Path> all;
    try (Stream<Path> inside = Files.list(requireNonNull(saved.getParent()))) {
      all = inside.filter(each -> each.getFileName().toString().startsWith("recording-") && Files.isDirectory(each))
          .sorted()
          .toList();
    }
    for (Path old : all.subList(0, Math.max(0, all.size() - MOST_SAVED))) {
      Folders.delete(old);
      Files.deleteIfExists(JvmEvents.beside(old));
    }
    return saved;
  }

  /// Saves on a thread of its own: the caller is in a turn. Once in a while, since trouble comes in crowds.
  private void wentWrong(String words) {
    long now = System.nanoTime();
    long next = nextSave.get();
    if (flight != null && (next == Long.MIN_VALUE || now - next >= 0)
        && nextSave.compareAndSet(next, now + BETWEEN.toNanos())) {
      Thread.ofPlatform().daemon().name("penstock-recording-save").start(() -> save(words));
    }
  }

  /// Ends the recording: what happens from now on is not in it.
  @Override
  public void close() {
    end.run();
  }
}
