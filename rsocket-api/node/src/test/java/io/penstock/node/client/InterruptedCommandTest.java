package io.penstock.node.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.OwnCommand;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.serve.QuickStart;
import io.penstock.stack.HostTier;
import io.penstock.testkit.FaultyTier;
import io.penstock.testkit.FaultyTier.Call;
import io.penstock.tier.TierListener;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What a command that a signal ends leaves for machines: what was done so far.
@Timeout(60)
@ExtendWith(QuickStart.class)
final class InterruptedCommandTest {
  @TempDir
  private Path folder;

  /// A command in a process of its own that is ended when its node does not answer any more.
  private JsonNode interrupted(String command, Call call, int answers) throws Exception {
    Process process = new ProcessBuilder(OwnCommand.of(List.of(), Silent.class.getName(),
        List.of(command, call.name(), String.valueOf(answers), folder.resolve("receipts").toString()))).start();
    try (BufferedReader out = process.inputReader(); BufferedReader err = process.errorReader()) {
      assertThat(err.readLine()).isEqualTo("silent");
      process.toHandle().destroy(); // which leaves its streams open
      JsonNode document = JsonMapper.shared().readTree(out.readLine());
      assertThat(out.readLine()).isNull();
      assertThat(process.waitFor()).isEqualTo(143);
      assertThat(document.get("interrupted").asBoolean()).isTrue();
      return document;
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void load_tellsWhatCame_andThatItHasNotEnded() throws Exception {
    JsonNode outcome = interrupted("load", Call.RESERVE, 3);
    assertThat(outcome.get("blocks").asInt()).isEqualTo(300);
    assertThat(outcome.get("ended").asBoolean(true)).isFalse();
    assertThat(outcome.at("/stored/volatile").asInt()).isEqualTo(30);
    assertThat(outcome.get("present").asInt()).isZero();
  }

  @Test
  void load_beforeAnythingCame_tellsSo() throws Exception {
    assertThat(interrupted("load", Call.RESERVE, 0).get("stored")).isEmpty();
  }

  @Test
  void check_tellsWhatItFound_andThatNotEveryPromiseIsKnownToBeKept() throws Exception {
    JsonNode outcome = interrupted("check", Call.LEASE, 1);
    assertThat(outcome.get("kept").asBoolean(true)).isFalse();
    assertThat(outcome.at("/byPromise/volatile/present").asInt()).isEqualTo(WindowCheck.BLOCKS);
    assertThat(outcome.get("broken")).isEmpty();
  }

  /// Runs a command against a node that is silent from the n-th call of one kind on.
  static final class Silent {
    private Silent() {}

    public static void main(String[] args) {
      HostTier tier = new HostTier(NodeConfig.defaults().space(), 400, TierListener.noop());
      Call silent = Call.valueOf(args[1]);
      int answers = Integer.parseInt(args[2]);
      AtomicInteger calls = new AtomicInteger();
      LinkedTier node = new LinkedTier(new FaultyTier(tier, call -> {
        if (call != silent || calls.getAndIncrement() < answers) {
          return Mono.empty();
        }
        System.err.println("silent");
        return Mono.never();
      }));
      if (args[0].equals("check")) {
        new LinkedTier(tier).run("load", "--blocks", "300", "--receipts", args[3]);
      }
      List<String> flags = new ArrayList<>(List.of("--json", "--window-blocks", "10", "--receipts", args[3]));
      if (args[0].equals("load")) {
        flags.addAll(List.of("--blocks", "300"));
      }
      ClientCommands.lines(Console.ofProcess(), (address, config, patience) -> node).stream()
          .filter(line -> line.getCommandName().equals(args[0]))
          .findFirst().orElseThrow().execute(flags.toArray(String[]::new));
    }
  }
}
