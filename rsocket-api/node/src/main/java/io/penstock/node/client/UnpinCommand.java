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

/// Ends pins.
@Command(
    name = "unpin",
    description = {"Ends the pins of blocks of a node: the policy may evict them again.", "",
      "Counts the blocks that had no pin, or whose soft pin had expired. The exit code is 1 if a block is not there.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock unpin --trace-id 0-15", ""})
final class UnpinCommand extends ClientCommand {
  @Mixin
  private KeyChoice choice = new KeyChoice();

  UnpinCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    List<BlockKey> keys = choice.of(config.space(), console.in());
    return node -> KeyOutcomes.of(keys, Answers.of(node.holds().pin(keys, Pin.none()), patience()))
        .tell(console, isJson(), "unpinned");
  }
}
