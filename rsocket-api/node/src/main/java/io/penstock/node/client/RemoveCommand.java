package io.penstock.node.client;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.RemovalCount;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// Removes blocks, or a value.
@Command(
    name = "remove",
    description = {"Removes blocks, or a value by its name, from a node.", "",
      "Blocks that a read lease holds stay, unless --force is given; keys that are being written stay in any case.",
      "The exit code is 1 if a key that was named stays, or is not there.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock remove --trace-id 0-15", "  penstock remove --regex ^00", "  penstock remove --all --force",
      "  penstock remove --model objects --value-part-bytes 256KiB --name step-1", ""})
final class RemoveCommand extends ClientCommand {
  @Mixin
  private KeyChoice choice = new KeyChoice();

  @Option(names = {"--regex", "--pattern"}, paramLabel = "PATTERN",
      description = "Remove the blocks in whose hash, 32 lower-case hex digits, this is found; a regular expression"
          + " of RE2.")
  private @Nullable String regex;

  @Option(names = "--all", description = "Remove every block.")
  private boolean all;

  @Option(names = "--force", description = "Remove blocks that read leases hold, too.")
  private boolean force;

  @Option(names = "--name", paramLabel = "NAME",
      description = "Remove the value of this name from a space of values (--value-part-bytes).")
  private @Nullable String name;

  RemoveCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    int ways = (choice.isGiven() ? 1 : 0) + (regex == null ? 0 : 1) + (all ? 1 : 0);
    if (name != null) {
      return value(config, name, ways);
    }
    if (ways > 1) {
      throw new IllegalArgumentException("blocks must be given by keys, --regex or --all alone (was " + ways + ")");
    }
    if (all || regex != null) {
      KeyFilter which = all ? KeyFilter.all() : new KeyFilter(regex, key -> true); // the node runs the pattern
      return node -> tell(
          Misuse.of("--regex", node.holds().remove(which, force).reduce(RemovalCount::plus), patience()));
    }
    List<BlockKey> keys = choice.of(config.space(), console.in());
    return node -> KeyOutcomes.of(keys, Answers.of(node.holds().remove(keys, force), patience()))
        .tell(console, isJson(), "removed");
  }

  private Work value(NodeConfig config, String given, int ways) {
    NamedValue.requireSpace(config);
    if (ways > 0 || force) {
      throw new IllegalArgumentException("keys, --regex, --all and --force must be left out with --name "
          + "(was given)");
    }
    NamedValue value = new NamedValue(console, given, patience(), isJson());
    return value::remove;
  }

  private int tell(RemovalCount count) {
    if (isJson()) {
      console.json(count);
    } else {
      console.print("%s removed, %s leased, %s being written".formatted(Plural.of(count.removed(), "block"),
          Numbers.of(count.leased()), Numbers.of(count.notReady())));
    }
    return ExitCode.OK;
  }
}
