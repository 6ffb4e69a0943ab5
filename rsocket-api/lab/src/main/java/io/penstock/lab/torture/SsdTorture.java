package io.penstock.lab.torture;

import io.penstock.lab.torture.PhasePage.Lane;
import io.penstock.lab.torture.TortureReport.PhaseKills;
import io.penstock.lab.torture.TortureWriter.Orders;
import io.penstock.node.cli.Folders;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalStore;
import io.penstock.storage.disk.SyncMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.IntConsumer;

/// Ends a writer over and over and, after each end, looks for everything that it was promised. One thread.
final class SsdTorture implements AutoCloseable {
  private static final int REHEARSAL_STEPS = 12;

  private final Path directory;
  private final EngineKind engine;
  private final SyncMode durability;
  private final long seed;
  private final Random random;
  private final Ledger ledger = new Ledger();
  private final PhasePage page;
  private final JournalProof proof;
  private final int[] aimed = new int[Phase.values().length];
  private final int[] fell = new int[Phase.values().length];
  private int kills;
  private int rehearsals;

  /// @param directory empty or missing; afterwards it has the journal, and the last lines of the last writer
  SsdTorture(Path directory, EngineKind engine, SyncMode durability, long seed) throws IOException {
    this.directory = directory;
    this.engine = engine;
    this.durability = durability;
    this.seed = seed;
    this.random = new Random(seed);
    Files.createDirectories(directory);
    this.proof = new JournalProof(TortureJournal.options(journal(directory), engine, durability), ledger);
    this.page = PhasePage.open(directory.resolve("phases"));
  }

  /// Folder of the journal.
  static Path journal(Path directory) {
    return directory.resolve("journal");
  }

  /// @param listener receives the number of kills so far
  TortureReport run(int times, IntConsumer listener) throws IOException, InterruptedException {
    WriterProcess next = WriterProcess.start(rehearsal(), directory);
    openOnce();
    try {
      while (kills < times) {
        WriterProcess writer = next;
        next = kill(writer);
        proof.run();
        kills++;
        listener.accept(kills);
      }
    } finally {
      next.close();
    }
    return report();
  }

  /// Lets one writer work while the next one waits; the earlier user of this folder is dead.
  private Orders rehearsal() throws IOException {
    rehearsals++;
    Path folder = directory.resolve("writer-" + rehearsals % 2);
    Folders.delete(folder);
    return new Orders(journal(folder), folder, engine, durability, 0, 0, REHEARSAL_STEPS);
  }

  /// The first opening of a process takes longer than those that follow, and says nothing about the journal.
  private void openOnce() throws IOException {
    Path folder = directory.resolve("first");
    JournalStore.open(TortureJournal.SPACE, TortureJournal.options(folder, engine, durability)).close().block();
    Folders.delete(folder);
  }

  /// Lets `writer` work, and kills it; returns the next writer, which waits.
  private WriterProcess kill(WriterProcess writer) throws IOException, InterruptedException {
    Orders orders = new Orders(journal(directory), directory, engine, durability, random.nextInt(Integer.MAX_VALUE),
        ledger.next(), 0);
    KillPlan plan = KillPlan.draw(random);
    page.clear();
    Files.deleteIfExists(orders.acks());
    WriterProcess next;
    try (writer) {
      writer.go(orders);
      writer.awaitBegin(page);
      next = WriterProcess.start(rehearsal(), directory);
      plan.await(page, writer::isAlive);
      writer.kill().ifPresent(why -> proof.failed("the writer ended without a signal: " + why));
    }
    aimed[plan.aim().ordinal()]++;
    Phase phase = page.phase(Lane.APPENDING);
    fell[(phase == Phase.IDLE ? page.phase(Lane.SYNCING) : phase).ordinal()]++;
    AckLog.read(orders.acks(), ledger::heard);
    return next;
  }

  /// Checks after each kill.
  JournalProof proof() {
    return proof;
  }

  TortureReport report() {
    return new TortureReport(proof.broken().isNothing(), engine.name().toLowerCase(Locale.ROOT),
        durability.name().toLowerCase(Locale.ROOT), seed,
        kills, ledger.stored(), ledger.removed(), ledger.refused(), proof.checked(), proof.read(), proof.broken(),
        proof.recovery(), phases(),
        proof.findings());
  }

  private List<PhaseKills> phases() {
    return Arrays.stream(Phase.values())
        .map(phase -> new PhaseKills(phase.word(), aimed[phase.ordinal()], fell[phase.ordinal()])).toList();
  }

  @Override
  public void close() {
    page.close();
    proof.close();
  }
}
