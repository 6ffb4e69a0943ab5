package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.Plural;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// Does what the engine of a prefill rank does when a prompt is computed.
@Command(
    name = "keep",
    description = {"Keeps blocks of a prefill rank until the decode ranks of a request are done with them.", "",
      "The node is a prefill rank if its setting rank.side is prefill. A request also ends when a decode rank cancels"
          + " it, or when its lease expires. A name serves one request.",
      "Ends with 69 at a node that is no prefill rank.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock keep --request chat-17 --trace-id 0-15", "  penstock keep --request chat-17 --withdraw", ""})
final class KeepCommand extends ClientCommand {
  @Option(names = "--request", paramLabel = "NAME", required = true, description = "Name of the request.")
  private @Nullable String request;

  @Option(names = "--withdraw", description = "End the request instead: no decode rank needs its blocks.")
  private boolean withdraws;

  @Mixin
  private KeyChoice choice = new KeyChoice();

  /// What became of the request, in JSON.
  record Outcome(String request, int blocks, boolean kept) {}

  KeepCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    String name = requireNonNull(request, "request");
    if (withdraws && choice.isGiven()) {
      throw new IllegalArgumentException("%s must be left out with --withdraw (was given)".formatted(choice.given()));
    }
    if (withdraws) {
      return node -> {
        Answers.of(node.requests(rank -> rank.withdraw(name).thenReturn(true)), patience());
        return tell(new Outcome(name, 0, false), "request " + name + " is withdrawn");
      };
    }
    List<BlockKey> keys = choice.of(config.space(), console.in());
    return node -> {
      boolean kept = Answers.of(node.requests(rank -> rank.keep(name, config.space().id(), keys)), patience());
      return tell(new Outcome(name, keys.size(), kept), kept
          ? Plural.of(keys.size(), "block") + " kept for request " + name
          : "request " + name + " has ended: its decode ranks were done before");
    };
  }

  private int tell(Outcome outcome, String sentence) {
    if (isJson()) {
      console.json(outcome);
    } else {
      console.print(sentence);
    }
    return ExitCode.OK;
  }
}
