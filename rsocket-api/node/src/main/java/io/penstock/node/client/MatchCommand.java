package io.penstock.node.client;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Numbers;
import io.penstock.node.config.NodeConfig;
import io.penstock.tier.Presence;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// Tells which blocks a node has, without using them.
@Command(
    name = "match",
    description = {"Prints how many of the keys, from the first, a node has.", "", "A match does not count as a use.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock match --trace-id 0-15", ""})
final class MatchCommand extends ClientCommand {
  /// The answer in JSON.
  ///
  /// @param keys number of keys asked for
  /// @param prefix length of the longest prefix that the node has
  /// @param present number of keys that the node has, prefix or not
  record Answer(int keys, int prefix, int present) {}

  @Mixin
  private KeyChoice choice = new KeyChoice();

  MatchCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    List<BlockKey> keys = choice.of(config.space(), console.in());
    return node -> match(node, keys);
  }

  private int match(NodeLink node, List<BlockKey> keys) {
    Presence present = Answers.of(node.tier().contains(keys), patience());
    Answer answer = new Answer(keys.size(), present.prefix(), present.count());
    if (isJson()) {
      console.json(answer);
    } else {
      console.print("prefix %s of %s, present %s".formatted(Numbers.of(answer.prefix()), Numbers.of(answer.keys()),
          Numbers.of(answer.present())));
    }
    return ExitCode.OK;
  }
}
