package io.penstock.node.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.NodeConfig;
import io.penstock.stack.HostTier;
import io.penstock.testkit.FaultyTier;
import io.penstock.testkit.FaultyTier.Call;
import io.penstock.tier.TierListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What `load` says of a node that does not answer, and how it goes on.
@Timeout(60)
final class LoadCommandTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir
  private Path folder;
  private final HostTier tier =
      new HostTier(NodeConfig.defaults().space(), 200, TierListener.noop());

  @AfterEach
  void close() {
    tier.close().block(SOON);
  }

  private LinkedTier.Run load(LinkedTier node, String... flags) {
    return node.run("load",
        Stream.concat(Stream.of("--receipts", acks(), "--window-blocks", "10", "--blocks", "50"), Stream.of(flags))
            .toArray(String[]::new));
  }

  private String acks() {
    return folder.resolve("receipts").toString();
  }

  @Test
  void silentNode_endsWith69_andSaysHowLongItWaitedAndWhatCame() {
    AtomicInteger reservations = new AtomicInteger();
    LinkedTier silent = new LinkedTier(new FaultyTier(tier,
        call -> call == Call.RESERVE && reservations.incrementAndGet() > 3 ? Mono.never() : Mono.empty()));

    LinkedTier.Run run = load(silent, "--timeout", "50ms");

    assertThat(run.code()).isEqualTo(69);
    assertThat(run.err()).isEqualTo(
        "30 receipts of 50 blocks came, and are in %s; the same command continues after them\n".formatted(acks())
            + "load: the node must answer within --timeout, 50ms (was silent)\n");
    assertThat(run.out()).isEmpty();
  }

  @Test
  void silentNode_leavesWordOfBlocksThatWereThereAlready_too() {
    load(new LinkedTier(tier));
    AtomicInteger reservations = new AtomicInteger();
    LinkedTier silent = new LinkedTier(new FaultyTier(tier,
        call -> call == Call.RESERVE && reservations.incrementAndGet() > 2 ? Mono.never() : Mono.empty()));

    assertThat(load(silent, "--timeout", "50ms").err())
        .startsWith("0 receipts of 50 blocks came, and are in %s, 20 there already; ".formatted(acks()));
  }

  @Test
  void silentNode_leavesAnOutcomeForMachines_thatHasNotEnded() throws IOException {
    AtomicInteger reservations = new AtomicInteger();
    LinkedTier silent = new LinkedTier(new FaultyTier(tier,
        call -> call == Call.RESERVE && reservations.incrementAndGet() > 3 ? Mono.never() : Mono.empty()));

    LinkedTier.Run run = load(silent, "--timeout", "50ms", "--json");

    assertThat(run.code()).isEqualTo(69);
    JsonNode outcome = JsonMapper.shared().readTree(run.out());
    assertThat(outcome.get("ended").asBoolean(true)).isFalse();
    assertThat(outcome.get("blocks").asInt()).isEqualTo(50);
    assertThat(outcome.at("/stored/volatile").asInt()).isEqualTo(30);
  }

  @Test
  void blocksThatWereThereAlready_areCheckedToo_ifNothingElseIsKnownOfThem() throws IOException {
    load(new LinkedTier(tier));
    Path all = Path.of(acks());
    Files.write(all, Files.readAllLines(all).subList(0, 20)); // the receipts of the others never came

    LinkedTier.Run again = load(new LinkedTier(tier), "--json");

    assertThat(again.code()).as(again.err()).isZero();
    JsonNode outcome = JsonMapper.shared().readTree(again.out());
    assertThat(outcome.get("present").asInt()).isEqualTo(50);
    assertThat(outcome.get("elsewhere").asInt()).isZero();
    assertThat(outcome.get("ended").asBoolean()).isTrue();
    assertThat(Files.readAllLines(all)).hasSize(50);
    LinkedTier.Run check = new LinkedTier(tier).run("check", "--receipts", acks());
    assertThat(check.code()).as(check.err()).isZero();
    assertThat(check.out()).contains("\nseen          30       30        0", "\nvolatile      20       20        0");

    load(new LinkedTier(tier));
    assertThat(Files.readAllLines(all)).as("written down once").hasSize(50);
  }

  @Test
  void fileThatIsNoneOfAcks_isRefusedAndStaysAsItIs() throws IOException {
    Path others = Files.writeString(folder.resolve("receipts"), "a diary\nwithout an end");

    LinkedTier.Run run = load(new LinkedTier(tier));

    assertThat(run.code()).isEqualTo(65);
    assertThat(run.err()).contains("receipts, line 1 must be a receipt as load writes it (was a diary)");
    assertThat(others).hasContent("a diary\nwithout an end");
  }
}
