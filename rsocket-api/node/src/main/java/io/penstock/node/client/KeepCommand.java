package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.disagg.request.Release;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.Plural;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
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
      "Ends with 1 if nothing is kept because the request was cancelled, rejected, withdrawn or expired before, or if"
          + " there is nothing to withdraw; with 69 at a node that is no prefill rank.",
      ""},
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
  ///
  /// @param outcome `applied`, `repeated`, `over`, `unknown`, or `acknowledged` by a node of an earlier release
  /// @param release how the request had ended, with `over` alone
  record Outcome(String request, int blocks, boolean kept, String outcome, @Nullable String release) {
    static Outcome of(String request, int blocks, boolean kept, RequestAnswer answer) {
      Release release = answer.release();
      return new Outcome(request, blocks, kept, lower(answer.outcome()), release == null ? null : lower(release));
    }
  }

  KeepCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  boolean isOfOneNode() {
    return true;
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    String name = requireNonNull(request, "request");
    if (withdraws && choice.isGiven()) {
      throw new IllegalArgumentException("%s must be left out with --withdraw (was given)".formatted(choice.given()));
    }
    if (withdraws) {
      return node -> withdrawn(name,
          Answers.of(node.requests(rank -> rank.withdraw(name)), patience()));
    }
    List<BlockKey> keys = choice.of(config.space(), console.in());
    return node -> kept(name, keys.size(),
        Answers.of(node.requests(rank -> rank.keep(name, config.space().id(), keys)), patience()));
  }

  private int withdrawn(String name, RequestAnswer answer) {
    tell(Outcome.of(name, 0, false, answer), switch (answer.outcome()) {
      case OVER -> "request " + name + " had ended already, and nothing was withdrawn: " + how(answer);
      case UNKNOWN, EARLY -> "request " + name + " is not known to the node: nothing was withdrawn";
      default -> "request " + name + " is withdrawn";
    });
    return switch (answer.outcome()) {
      case OVER, UNKNOWN, EARLY -> ExitCode.FOUND_FAILURE; // there was nothing to withdraw
      default -> ExitCode.OK;
    };
  }

  private int kept(String name, int blocks, RequestAnswer answer) {
    boolean kept = answer.outcome() != RequestAnswer.Outcome.OVER;
    tell(Outcome.of(name, blocks, kept, answer), switch (answer.outcome()) {
      case OVER -> "request " + name + " has ended, and nothing is kept: " + how(answer);
      case REPEATED -> Plural.of(blocks, "block") + " were kept for request " + name + " already";
      default -> Plural.of(blocks, "block") + " kept for request " + name;
    });
    return kept || answer.release() == Release.DONE ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private static String how(RequestAnswer answer) {
    return switch (requireNonNull(answer.release(), "release")) {
      case DONE -> "its decode ranks were done before";
      case CANCELLED -> "a decode rank cancelled it";
      case REJECTED -> "a decode rank rejected it";
      case EXPIRED -> "its lease expired";
      case WITHDRAWN -> "it was withdrawn before";
    };
  }

  private static String lower(Enum<?> word) {
    return word.name().toLowerCase(Locale.ROOT);
  }

  private void tell(Outcome outcome, String sentence) {
    if (isJson()) {
      console.json(outcome);
    } else {
      console.print(sentence);
    }
  }
}
