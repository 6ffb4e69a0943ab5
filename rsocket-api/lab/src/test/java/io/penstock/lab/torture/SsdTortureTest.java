package io.penstock.lab.torture;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.lab.torture.AckLog.Word;
import io.penstock.node.CommandLineRun;
import io.penstock.node.serve.QuickStart;
import io.penstock.storage.EngineKind;
import io.penstock.storage.disk.SyncMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `penstock torture ssd`: whatever a journal promised before it was killed is there.
@Timeout(120)
@ExtendWith(QuickStart.class)
final class SsdTortureTest {
  private static final JsonMapper JSON = JsonMapper.shared();

  @TempDir
  private Path temporary;

  @ParameterizedTest
  @CsvSource({"chronicle, none", "plain, interval"})
  void killedTwice_keepsEveryPromise(String engine, String durability) throws IOException {
    torture(engine, durability, 2);
  }

  @Tag("proof")
  @Timeout(7_200)
  @ParameterizedTest
  @CsvSource({"chronicle, none", "chronicle, interval", "chronicle, always", "plain, none", "plain, interval",
    "plain, always"})
  void killedAThousandTimes_keepsEveryPromise(String engine, String durability) throws IOException {
    torture(engine, durability, 1_000);
  }

  private void torture(String engine, String durability, int kills) throws IOException {
    CommandLineRun run = LabRun.of("torture", "ssd", "--kills", Integer.toString(kills), "--dir",
        temporary.resolve("torture").toString(),
        "--engine", engine, "--durability", durability, "--seed", "42", "--json");

    assertThat(run.exitCode()).as(run.err() + run.out()).isZero();
    assertThat(run.err()).as("what is going to happen").contains(
        "torture: killing a writer " + (kills == 2 ? "2" : "1,000") + " times in ",
        ": engine " + engine + ", durability " + durability + ", seed 42; the first one starts\n");
    JsonNode report = JSON.readTree(run.out());
    assertThat(report.get("kept").asBoolean()).isTrue();
    assertThat(report.get("kills").asInt()).isEqualTo(kills);
    assertThat(report.get("receipts").asLong()).as(run.out()).isPositive();
    assertThat(report.get("phases").findValues("fell").stream().mapToInt(JsonNode::asInt).sum()).isEqualTo(kills);
    if (kills >= 300) { // of the long form: each phase was met
      assertThat(report.get("phases")).as(run.out()).allMatch(phase -> phase.get("fell").asInt() > 0);
    }
  }

  @Test
  void aLostSegment_isABrokenPromise() throws IOException, InterruptedException {
    try (SsdTorture torture = new SsdTorture(temporary, EngineKind.PLAIN, SyncMode.NONE, 3)) {
      torture.run(3, done -> {});
      assertThat(torture.report().kept()).as(torture.report().toString()).isTrue();
      try (Stream<Path> files = Files.list(temporary.resolve("journal"))) {
        for (Path file : files.filter(each -> each.toString().endsWith(".log")).toList()) {
          Files.delete(file);
        }
      }
      torture.proof().run();

      assertThat(torture.report().kept()).isFalse();
      assertThat(torture.report().broken().lost()).isPositive();
      assertThat(torture.report().findings().getFirst()).contains("lost: block ");
    }
  }

  @Test
  void ledger_ofWhatWasHeard_owesWhatHadAReceiptAndWasNotRemoved() {
    Ledger ledger = new Ledger();
    ledger.heard(Word.PUTS, List.of(1L, 2L, 3L));
    ledger.heard(Word.STORED, List.of(1L, 2L));
    ledger.heard(Word.REMOVES, List.of(2L));

    assertThat(ledger.lost(Set.of())).containsExactly(1L);
    assertThat(ledger.mayBe(2)).isTrue();
    ledger.heard(Word.REMOVED, List.of(2L));
    assertThat(ledger.mayBe(2)).isFalse();
    ledger.settle(Set.of(1L, 3L)); // the receipt of 3 never came, and it is there
    assertThat(ledger.lost(Set.of(1L))).containsExactly(3L);
    ledger.heard(Word.PUTS, List.of(3L)); // once more: it must be there meanwhile
    assertThat(ledger.mustBe(3)).isTrue();
    assertThat(ledger.next()).isEqualTo(4);
  }

  @Test
  void senselessOrders_endWith2() throws IOException {
    Files.writeString(temporary.resolve("something"), "there");
    CommandLineRun full = LabRun.of("torture", "ssd", "--dir", temporary.toString());
    assertThat(full.exitCode()).isEqualTo(2);
    assertThat(full.err()).contains("--dir must be a folder that is empty or not there");
    assertThat(LabRun.of("torture", "ssd", "--dir", "x", "--engine", "memory").exitCode()).isEqualTo(2);
    assertThat(LabRun.of("torture").out()).as("the commands").contains("  ssd  ");
  }
}
