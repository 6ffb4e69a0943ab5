package io.penstock.storage.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.recording.Player.Outcome;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.Recorder;
import io.penstock.recording.Turns;
import io.penstock.storage.engine.ForwardingEngine;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.recording.RecordingWriter.Options;
import io.penstock.storage.recording.RecordingWriter.WhenFull;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/// A recorder whose disk stands still.
@Timeout(60)
final class FullRecorderTest {
  private static final long WAITING_BYTES = 1 << 20;
  private static final int CLIENTS = 3;
  private static final int ROUNDS = 400;

  @TempDir
  private Path folder;

  private final CountDownLatch disk = new CountDownLatch(1);

  /// An engine whose appends wait.
  private static final class StalledEngine extends ForwardingEngine {
    private final CountDownLatch disk;

    StalledEngine(SegmentEngine engine, CountDownLatch disk) {
      super(engine);
      this.disk = disk;
    }

    @Override
    public Location append(MemorySegment... parts) {
      try {
        if (!disk.await(BusyTier.SOON.toSeconds(), TimeUnit.SECONDS)) {
          throw new AssertionError("the test must let the disk go on (did not)");
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return super.append(parts);
    }
  }

  private RecordingWriter writer(WhenFull whenFull) {
    Options options = Options.defaults().withSegmentBytes(1 << 20).withPayloads(true).withWaitingBytes(WAITING_BYTES)
        .withWhenFull(whenFull);
    SegmentEngine engine = new StalledEngine(RecordingWriter.engine(folder, options.segmentBytes()), disk);
    return new RecordingWriter(engine, options, System::nanoTime);
  }

  private static List<CompletableFuture<Void>> clients(BusyTier busy) {
    List<CompletableFuture<Void>> clients = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      long seed = client;
      clients.add(CompletableFuture.runAsync(() -> busy.work(seed, ROUNDS),
          work -> Thread.ofPlatform().name("client").daemon().start(work)));
    }
    return clients;
  }

  private static void join(List<CompletableFuture<Void>> clients) {
    clients.forEach(client -> client.orTimeout(BusyTier.SOON.toSeconds(), TimeUnit.SECONDS).join());
  }

  private List<RecordedEvent> events() {
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(folder)) {
      reader.forEachRemaining(events::add);
    }
    return events;
  }

  @Test
  void withWait_demandIsWithheld_andNothingIsMissing() {
    List<BlockKey> left = Blocks.keys(BusyTier.SPACE, 1000, 1001);
    RecordingWriter writer = writer(WhenFull.WAIT);
    try (writer) {
      BusyTier busy = new BusyTier(writer);
      List<CompletableFuture<Void>> clients = clients(busy);
      Eventually.holds("the recorder is full", writer::isFull);
      Disposable cancelled = busy.read(left, true).subscribe();
      assertThat(writer.waitingBytes()).isLessThanOrEqualTo(WAITING_BYTES);
      assertThat(clients).noneMatch(CompletableFuture::isDone);

      cancelled.dispose();
      disk.countDown();

      join(clients);
      busy.close();
    }
    assertThat(writer.missed()).isZero();
    Outcome outcome = BusyTier.play(folder);
    assertThat(outcome.difference()).isNull();
    assertThat(outcome.gap()).isFalse();
    assertThat(outcome.turns()).isGreaterThan(CLIENTS * ROUNDS);
    assertThat(events()).noneMatch(event -> event.keys().equals(left));
  }

  @Test
  void withWait_whatIsCancelled_waitsNoLonger() {
    List<BlockKey> left = Blocks.keys(BusyTier.SPACE, 1000, 1001);
    try (RecordingWriter writer = writer(WhenFull.WAIT)) {
      BusyTier busy = new BusyTier(writer);
      List<CompletableFuture<Void>> clients = clients(busy);
      Eventually.holds("the recorder is full", writer::isFull);
      Eventually.holds("clients wait", () -> writer.waits() > 0);

      for (int i = 0; i < 5_000; i++) {
        busy.read(left, true).subscribe().dispose();
      }

      assertThat(writer.waits()).isPositive().isLessThanOrEqualTo(2 * CLIENTS); // a call and its demand, each
      disk.countDown();
      join(clients);
      busy.close();
    }
  }

  @Test
  void withWait_demandOfANamedFlow_isWithheld_andAsked_afterwards() {
    AtomicLong asked = new AtomicLong();
    RecordingWriter writer = writer(WhenFull.WAIT);
    try (writer) {
      Turns turns = new Turns(System::nanoTime, writer);
      Flux<Integer> source = Flux.range(0, 10).doOnRequest(asked::addAndGet).hide();
      RecordedEvent filling = RecordedEvent.gap(1).withText("x".repeat(10_000));
      for (int i = 0; i < 1_000 && !writer.isFull(); i++) {
        writer.add(filling);
      }
      assertThat(writer.isFull()).isTrue();
      StepVerifier.create(source.transform(new Recorder(turns).named("load")), 0)
          .thenRequest(3).thenRequest(2)
          .then(() -> assertThat(asked).hasValue(0))
          .then(disk::countDown)
          .expectNextCount(5)
          .thenRequest(5).expectNextCount(5).verifyComplete();
    }
  }

  @Test
  void withWait_aRecordingThatEnds_letsAllStreamsGoOn() {
    RecordingWriter writer = writer(WhenFull.WAIT);
    BusyTier busy = new BusyTier(writer);
    List<CompletableFuture<Void>> clients = clients(busy);
    Eventually.holds("the recorder is full", writer::isFull);

    CompletableFuture<Void> closed = CompletableFuture.runAsync(writer::close);

    join(clients); // while the disk stands still
    disk.countDown();
    closed.join();
    busy.close();
    Outcome outcome = BusyTier.play(folder);
    assertThat(outcome.difference()).isNull();
    assertThat(outcome.gap()).isFalse();
  }

  @Test
  void withDrop_nothingWaits_andTheGapIsCounted() {
    RecordingWriter writer = writer(WhenFull.DROP);
    BusyTier busy = new BusyTier(writer);

    join(clients(busy)); // while the disk stands still

    assertThat(writer.waitingBytes()).isLessThanOrEqualTo(WAITING_BYTES);
    disk.countDown();
    busy.close();
    writer.close();
    long told = events().stream().filter(event -> event.kind() == Kind.GAP).mapToLong(event -> event.number(0)).sum();
    assertThat(writer.missed()).isPositive().isEqualTo(told);
    Outcome outcome = BusyTier.play(folder);
    assertThat(outcome.gap()).isTrue();
    assertThat(outcome.difference()).isNull();
    assertThat(outcome.turns()).isPositive();
  }
}
