package io.penstock.node.client;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.tier.TierHolds.Pin;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// Pins blocks.
@Command(
    name = "pin",
    description = {"Keeps blocks of a node from eviction, whether they are read or not.", "",
      "A pinned block may move to a slower level, and can be removed. The exit code is 1 if a block is not there.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock pin --trace-id 0-15 --soft=2h", "  penstock pin --keys-from system-prompt.txt --hard", ""})
final class PinCommand extends ClientCommand {
  @Mixin
  private KeyChoice choice = new KeyChoice();

  @Mixin
  private PinOptions options = new PinOptions();

  PinCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    Pin pin = options.given();
    if (pin == null) {
      throw new IllegalArgumentException("--soft or --hard must be given (was none)");
    }
    List<BlockKey> keys = choice.of(config.space(), console.in());
    return node -> KeyOutcomes.of(keys, Answers.of(node.holds().pin(keys, pin), patience()))
        .tell(console, isJson(), "pinned");
  }
}
