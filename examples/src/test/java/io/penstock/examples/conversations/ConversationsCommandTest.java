package io.penstock.examples.conversations;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.EvictionPolicy;
import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class ConversationsCommandTest {
  private static final int CONVERSATIONS = 5;
  private static final int TURNS = 3;
  private static final int SYSTEM_TOKENS = 200;
  private static final int SYSTEM_BLOCKS = SYSTEM_TOKENS / 16;
  private static final List<String> SMALL = List.of("conversations", "--conversations", "5", "--turns", "3",
      "--system", "200", "--hbm", "5MiB", "--dram", "2MiB", "--ssd", "64MiB");

  @TempDir
  static Path directory;

  /// Of two runs under the same seed.
  private static ConversationsReport report;
  private static ConversationsReport again;
  private static final ConsoleCapture TABLES = new ConsoleCapture();

  @BeforeAll
  static void runTwice() throws IOException {
    ConsoleCapture json = new ConsoleCapture();
    assertThat(Examples.run(line("--json"), json.console())).as(json.err() + json.out()).isZero();
    assertThat(json.out().lines()).as("JSON alone").hasSize(1);
    report = Json.MAPPER.readValue(json.out(), ConversationsReport.class);
    Path file = directory.resolve("again.json");
    assertThat(Examples.run(line("--report", file.toString(), "--report", page().toString()), TABLES.console()))
        .as(TABLES.err()).isZero();
    again = Json.MAPPER.readValue(Files.readString(file), ConversationsReport.class);
    Files.delete(file);
  }

  private static Path page() {
    return directory.resolve("conversations.html");
  }

  private static String[] line(String... more) {
    return Stream.of(SMALL.stream(), Stream.of("--dir", directory.toString()), Arrays.stream(more))
        .flatMap(part -> part).toArray(String[]::new);
  }

  @Test
  void figures_addUp_andAreTheSameUnderTheSameSeed() {
    assertThat(report.isGood()).isTrue();
    for (Outcome outcome : List.of(report.withoutSsd(), report.withSsd())) {
      assertThat(outcome.deviations()).as(outcome.name()).isZero();
      assertThat(outcome.turns()).extracting(TurnFigures::turn).containsExactly(1, 2, 3);
      assertThat(Stream.concat(outcome.turns().stream(), Stream.of(outcome.all()))).allSatisfy(turn -> {
        assertThat(turn.reused().blocks() + turn.computedBlocks()).isEqualTo(turn.promptBlocks());
        assertThat(turn.savedTokens() + turn.computedTokens()).isEqualTo(turn.promptTokens());
        assertThat(turn.savedTokens()).isEqualTo(16 * turn.reused().blocks());
      });
      assertThat(outcome.all()).isEqualTo(TurnFigures.sum(outcome.turns()));
      assertThat(outcome.savedSeconds()).isEqualTo(outcome.all().savedTokens() / 1750.0);
      assertThat(outcome.turns().getFirst().reused()).as("one conversation computes the system prompt for all")
          .isEqualTo(Reused.shared((CONVERSATIONS - 1) * SYSTEM_BLOCKS));
    }
    assertThat(withoutMeasuredTime(again)).isEqualTo(withoutMeasuredTime(report));
  }

  @Test
  void ssd_thatHoldsAllBlocks_leavesOnlyNewOnesToCompute() {
    Outcome without = report.withoutSsd();
    Outcome with = report.withSsd();
    assertThat(without.evictedBlocks()).as("memory is too small").isPositive();
    assertThat(with.evictedBlocks()).isZero();
    assertThat(with.all().reused().blocks()).isGreaterThan(without.all().reused().blocks());
    assertThat(without.all().reused().ssd()).isZero();
    assertThat(with.all().reused()).as("a bit of everything").satisfies(reused -> {
      assertThat(reused.hbm()).isPositive();
      assertThat(reused.dram()).isPositive();
      assertThat(reused.ssd()).isPositive();
    });
    assertThat(with.all().promptBlocks()).isEqualTo(without.all().promptBlocks());
    assertThat(with.all().computedBlocks()).as("no block twice").isEqualTo(newBlocks());
  }

  /// Blocks of prompts that were in no prompt and in no answer before.
  private long newBlocks() {
    ConversationsOptions options = new ConversationsOptions(directory, CONVERSATIONS, TURNS, SYSTEM_TOKENS,
        new ConversationsOptions.Memory(1 << 20, 1 << 20, 1 << 20), EvictionPolicy.LRU, 1, ChoiceRule.ALWAYS,
        report.seed());
    long fresh = SYSTEM_BLOCKS;
    for (Conversation conversation : options.all()) {
      int known = SYSTEM_BLOCKS;
      for (int turn = 0; turn < TURNS; turn++) {
        fresh += conversation.promptTokens().get(turn) / 16 - known;
        known = conversation.answeredTokens().get(turn) / 16;
      }
    }
    return fresh;
  }

  @Test
  void tables_andPage_areWrittenForReaders() throws IOException {
    assertThat(TABLES.err()).contains("conversations: without SSD\n", "conversations: with SSD\n",
        "report in " + page());
    assertThat(TABLES.out()).contains("without SSD:\nTURN", "with SSD:\nTURN",
        "prefill at 1,750 tokens/s, which is assumed: ").endsWith(" 0 wrong, 0 missing, 0 leaked\n");
    assertThat(Files.readString(page())).contains("Tiers that the blocks of the prompts came from, with SSD",
        "\"points\":\"turns\"", "\"stacked\":true");
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).as("the journal is removed").containsExactly(page());
    }
  }

  @Test
  void choiceByCost_computesWhatIsFasterToCompute_andShowsItsInputs() throws IOException {
    ConsoleCapture json = new ConsoleCapture();
    assertThat(Examples.run(line("--json", "--choice", "cost", "--prefill-speed", "1e9"), json.console()))
        .as(json.err()).isZero();
    ConversationsReport fast = Json.MAPPER.readValue(json.out(), ConversationsReport.class);
    assertThat(report.withSsd().decisions()).as("off by default").isEmpty();
    assertThat(fast.choice()).isEqualTo("cost");
    List<Decision> decisions = fast.withSsd().decisions();
    assertThat(decisions).hasSize(CONVERSATIONS * (TURNS - 1));
    assertThat(decisions.getFirst()).satisfies(first -> {
      assertThat(first.reason()).as("no bandwidth is known yet").isEqualTo("unknown");
      assertThat(first.fetchBlocks()).isEqualTo(first.foundBlocks()).isPositive();
    });
    assertThat(decisions.subList(1, decisions.size())).allSatisfy(later -> {
      assertThat(later.reason()).isEqualTo("compute");
      assertThat(later.fetchBlocks()).isZero();
      assertThat(later.planMillis()).isEqualTo(later.computeMillis()).isLessThan(later.fetchMillis());
      assertThat(later.inputs()).isNotEmpty()
          .allSatisfy(input -> assertThat(input.bytesPerSecond()).isNotNull().isPositive());
    });
    assertThat(fast.withSsd().all().reused().blocks()).isLessThan(report.withSsd().all().reused().blocks());

    String table = ConversationsTable.of(fast);
    assertThat(table).contains("choice with SSD: compute 9, unknown 1\n");
    assertThat(table.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
  }

  private static ConversationsReport withoutMeasuredTime(ConversationsReport report) {
    return new ConversationsReport(report.conversations(), report.turns(), report.systemTokens(), report.blockTokens(),
        report.blockBytes(), report.hbmBlocks(), report.dramBlocks(), report.ssdBlocks(), report.policy(),
        report.tokensPerSecond(), report.choice(), report.seed(), withoutMeasuredTime(report.withoutSsd()),
        withoutMeasuredTime(report.withSsd()));
  }

  private static Outcome withoutMeasuredTime(Outcome outcome) {
    return new Outcome(outcome.ssd(), outcome.turns(), outcome.all(), outcome.savedSeconds(), outcome.evictedBlocks(),
        outcome.deviations(), outcome.wrongSpans(), outcome.missingBlocks(), outcome.leaked(), 0, outcome.decisions());
  }
}
