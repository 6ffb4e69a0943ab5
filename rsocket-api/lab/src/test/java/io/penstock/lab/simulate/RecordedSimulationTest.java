package io.penstock.lab.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.recording.Payloads;
import io.penstock.recording.Player;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.RecordingVerifier;
import io.penstock.recording.check.Rule.Checker;
import io.penstock.recording.check.Rules;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/// A seed is a recording, too: recorded, it is the run that it was before, it keeps the rules, and it is played again.
@Timeout(120)
final class RecordedSimulationTest {
  /// A seed that finds the sabotage; if scenarios are drawn otherwise one day, a later one does.
  private static final long FIRST = 17;
  private static final int SEEDS = 60;

  @TempDir
  private Path folder;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 427})
  void aRecordedSeed_isTheRunThatItWas_andIsPlayed(long seed) {
    Scenario scenario = ScenarioDraw.of(seed).withoutSalt();

    RecordedRun run = Simulation.record(scenario, Sabotage.NONE);

    assertThat(run.violation()).isNull();
    assertThat(run.result()).isEqualTo(Simulation.run(scenario, Sabotage.NONE));
    Player.Outcome played;
    try (Player player = new Player(run.events().iterator(), new PlayedTiers(), Payloads.ofKeys())) {
      played = player.play();
    }
    assertThat(played.difference()).as("%s", played.difference()).isNull();
    assertThat(played.events()).isEqualTo(run.events().size()).isGreaterThan(100);
    RecordingVerifier.of(run.events()).keepsAll().requestsAtMost("load decode0", Long.MAX_VALUE).verify();
  }

  /// The broken invariant is in the tier's events: an eviction that the model does not expect.
  @Test
  void aBrokenSeed_isSaved_playedToItsEvent_andFound() {
    Sabotage touching = Sabotage.ofTier(TouchingTier::new);
    Scenario broken = null;
    ViolationException violation = null;
    for (long seed = FIRST; seed < FIRST + SEEDS && violation == null; seed++) {
      broken = ScenarioDraw.of(seed).withoutSalt();
      try {
        Simulation.run(broken, touching);
      } catch (ViolationException e) {
        violation = e.invariant() == Invariant.MODEL_AGREES ? e : null;
      }
    }
    assertThat(violation).as("a seed that finds the sabotage").isNotNull();

    Path file = SimulateCommand.saved(broken, touching, folder);

    assertThat(file).isNotNull().hasFileName("seed-" + broken.seed() + ".pkr");
    CommandLineRun played = CommandLineRun.of("replay", file.toString());
    assertThat(played.exitCode()).as(played.err()).isEqualTo(1);
    RecordedRun again = Simulation.record(broken, touching);
    int at = firstBroken(again.events());
    assertThat(played.out()).contains("BROKEN: rule invariant at event " + at + ": "
        + Invariant.MODEL_AGREES.sentence()).doesNotContain("DIFFERENT");
    assertThat(again.violation()).isNotNull().hasMessage(violation.getMessage());
    assertThat(again.events().subList(0, at)).extracting(RecordedEvent::kind).contains(Kind.LEASE);
  }

  private static int firstBroken(List<RecordedEvent> events) {
    Checker invariant = Rules.named("invariant").begin();
    int at = 0;
    while (invariant.broken(events.get(at)) == null) {
      at++;
    }
    return at;
  }

  @Test
  void command_recordsTheSeedThatItIsGiven() {
    CommandLineRun run = LabRun.of("simulate", "--seeds", "3..3", "--record", folder.toString());

    assertThat(run.exitCode()).as(run.err()).isZero();
    Path file = folder.resolve("seed-3.pkr");
    assertThat(run.err()).contains("recorded in " + file);
    CommandLineRun played = CommandLineRun.with(Map.of(), new byte[0], "replay", file.toString());
    assertThat(played.exitCode()).as(played.err()).isZero();
    assertThat(played.out()).doesNotContain("DIFFERENT", "BROKEN");
  }

  /// Counts every question as a use.
  private static final class TouchingTier extends SaboteurTier {
    TouchingTier(BlockTier tier) {
      super(tier);
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
      return tier.lease(keys, onMiss, scope).doOnNext(lease -> touch(keys.getFirst()));
    }

    private void touch(BlockKey key) {
      try (BlockScope scope = new BlockScope()) {
        tier.lease(List.of(key), OnMiss.SKIP, scope).subscribe();
      }
    }
  }
}
