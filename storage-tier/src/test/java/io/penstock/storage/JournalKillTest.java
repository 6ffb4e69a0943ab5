package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Rest;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A writing process is ended without warning, over and over: what it acknowledged is there, what it removed is not.
@Timeout(600)
final class JournalKillTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final GranuleRange ALL = GranuleRange.all(SPACE.layout());

  @TempDir Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 64, 64));
  private final Set<BlockKey> kept = new HashSet<>();
  private final Set<BlockKey> removed = new HashSet<>();
  private long next;

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void killed_5Times_keepsWhatItAcknowledged(EngineKind engine) throws Exception {
    killOverAndOver(engine, 5);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void killed_20Times_keepsWhatItAcknowledged(EngineKind engine) throws Exception {
    killOverAndOver(engine, 20);
  }

  private void killOverAndOver(EngineKind engine, int cycles) throws Exception {
    for (int cycle = 0; cycle < cycles; cycle++) {
      writeUntilKilled(engine, 200 + new Random(cycle).nextInt(800));
      check(engine, "cycle " + cycle);
    }
  }

  private void writeUntilKilled(EngineKind engine, int lines) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(flag -> !flag.startsWith("-agent")).forEach(command::add);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), JournalWriter.class.getName(), temporary.toString(),
        engine.name(), Long.toString(next)));
    Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    try (BufferedReader output = process.inputReader()) {
      int count = 0;
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        note(line.split(" ", -1));
        count++;
        if (count == lines) {
          process.toHandle().destroyForcibly(); // keeps its output open, for what it said meanwhile counts
        }
      }
      assertThat(count).as("lines before the end").isGreaterThanOrEqualTo(lines);
    } finally {
      process.destroyForcibly();
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  private void note(String[] words) {
    if (words.length < 3 || words[2].isEmpty()) {
      return; // cut off in the middle
    }
    List<BlockKey> keys = Blocks.keys(SPACE, Long.parseLong(words[1]), Long.parseLong(words[2]));
    switch (words[0]) {
      case "+" -> {
        kept.addAll(keys);
        next = Long.parseLong(words[2]);
      }
      case "~" -> keys.forEach(kept::remove); // may be there or not
      default -> removed.addAll(keys);
    }
  }

  private void check(EngineKind engine, String when) {
    JournalStore store = JournalStore.open(SPACE, JournalWriter.options(temporary, engine));
    try {
      List<Rest> rests = store.recovered();
      Set<BlockKey> found = new HashSet<>(rests.stream().map(Rest::key).toList());
      assertThat(found).as(when).containsAll(kept).doesNotContainAnyElementsOf(removed);
      rests.forEach(rest -> read(store, rest));
      kept.addAll(found); // written, though nobody heard of it
      next += 100;
    } finally {
      store.close().block();
    }
  }

  private void read(JournalStore store, Rest rest) {
    try (BlockDraft draft = Blocks.draft(arena, rest.key())) {
      store.read(List.of(rest), List.of(draft), ALL).block();
      try (Block block = Objects.requireNonNull(draft.seal())) {
        Blocks.assertBytes(block);
      }
    }
  }
}
