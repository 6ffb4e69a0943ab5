package io.penstock.lab.torture;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.lab.torture.TortureReport.Broken;
import io.penstock.lab.torture.TortureReport.Recovery;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.check.SegmentReport;
import io.penstock.tier.spi.StoredBlock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Opens a journal that no process has open, looks for all blocks that a [Ledger] names, and counts differences.
final class JournalProof implements AutoCloseable {
  private static final GranuleRange ALL = GranuleRange.all(TortureJournal.SPACE.layout());
  private static final int MOST_FINDINGS = 20;

  private final JournalOptions options;
  private final Ledger ledger;
  private final SlabArena arena = new SlabArena("torture", TortureJournal.SPACE.layout(), 1, 1);
  private final List<Double> openings = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();
  private int proofs;
  private long journalBytes;
  private long checked;
  private long read;
  private long lost;
  private long partial;
  private long wrong;
  private long cameBack;
  private long damaged;
  private long failures;

  JournalProof(JournalOptions options, Ledger ledger) {
    this.options = options;
    this.ledger = ledger;
  }

  /// Checks once; afterwards the ledger knows the blocks that are there.
  void run() {
    proofs++;
    if (ledger.promised() == 0 && !Files.exists(options.directory().resolve("format"))) {
      return; // no writer has begun it
    }
    checkFiles(options.directory());
    long began = System.nanoTime();
    JournalStore store;
    try {
      store = JournalStore.open(TortureJournal.SPACE, options);
    } catch (KvException e) {
      failed("the journal could not be opened: " + e);
      return;
    }
    openings.add((System.nanoTime() - began) / 1e6);
    try {
      checkBlocks(store);
    } finally {
      store.close().block();
    }
  }

  private void checkFiles(Path journal) {
    CheckReport report = JournalCheck.run(journal, CheckProgress.none());
    journalBytes += report.segments().stream().mapToLong(SegmentReport::bytes).sum();
    report.damage().stream().filter(each -> each.live() && isPromised(each)).forEach(each -> {
      damaged++;
      found("damaged: " + each);
    });
  }

  /// A record that was just being written when the kill came is no damage.
  private boolean isPromised(Damage damage) {
    String key = damage.key();
    return key != null && ledger.mustBe(TortureJournal.number(BlockKey.parse(key)));
  }

  private void checkBlocks(JournalStore store) {
    Set<Long> there = new HashSet<>();
    for (StoredBlock rest : store.recovered()) {
      long number = TortureJournal.number(rest.key());
      there.add(number);
      read(store, rest, number);
    }
    checked += ledger.promised();
    ledger.lost(there).forEach(number -> {
      lost++;
      found("lost: block " + number);
    });
    ledger.settle(there);
  }

  private void read(JournalStore store, StoredBlock rest, long number) {
    if (!ledger.mayBe(number)) {
      cameBack++;
      found("came back: block " + number);
    }
    try (BlockDraft draft = requireNonNull(arena.tryClaim(List.of(rest.key())), "slot").getFirst()) {
      store.read(List.of(rest), List.of(draft), ALL).block();
      try (Block block = draft.seal()) {
        read++;
        if (TortureHand.differs(block)) {
          wrong++;
          found("wrong bytes: block " + number);
        }
      }
    } catch (KvException e) {
      unreadable(number, e);
    }
  }

  private void unreadable(long number, KvException why) {
    if (ledger.mustBe(number)) {
      lost++;
      found("lost: block " + number + ": " + why);
    } else {
      partial++;
      found("in part: block " + number + ": " + why);
    }
  }

  /// Something ended by itself.
  void failed(String what) {
    failures++;
    found(what);
  }

  private void found(String what) {
    if (findings.size() < MOST_FINDINGS) {
      findings.add("proof " + proofs + ", " + what);
    }
  }

  /// The first broken promises, in words.
  List<String> findings() {
    return List.copyOf(findings);
  }

  Broken broken() {
    return new Broken(lost, partial, wrong + ledger.wrong(), cameBack, damaged, failures);
  }

  /// Number of blocks that had to be there, over all checks.
  long checked() {
    return checked;
  }

  /// Blocks that were there, over all times.
  long read() {
    return read;
  }

  Recovery recovery() {
    if (openings.isEmpty()) {
      return new Recovery(0, 0, 0, 0);
    }
    double[] sorted = openings.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    double seconds = Arrays.stream(sorted).sum() / 1e3;
    return new Recovery(sorted[sorted.length / 2], sorted[sorted.length - 1], journalBytes / sorted.length,
        seconds / (journalBytes / 1e9));
  }

  @Override
  public void close() {
    arena.close();
  }
}
