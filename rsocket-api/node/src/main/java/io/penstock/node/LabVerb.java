package io.penstock.node;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/// The commands of the lab and of the gateway, which the archive of a node does not contain. A node lists them, and
/// says where they are.
enum LabVerb {
  ATTACK("Attacks a running node and shows what a well-behaved client notices."),
  SIMULATE("Runs whole clusters in virtual time, each drawn from a seed, and checks every invariant."),
  TORTURE("Ends processes without warning, and looks for what they were promised."),
  BENCH("Measures a part of Penstock on this machine."),
  GATEWAY("Serves an OpenAI endpoint before prefill and decode engines.");

  private final String description;

  LabVerb(String description) {
    this.description = description;
  }

  /// The verb that is written as `word`.
  static LabVerb of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  /// As it is written on the command line.
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Stands for the command where the lab is not there.
  CommandLine line() {
    CommandLine line = new CommandLine(new Elsewhere());
    line.getCommandSpec().name(word()).usageMessage()
        .description(description, "", "Run it in the source tree: ./penstock " + word() + ".", "");
    return line;
  }

  /// Whether `line` stands for a command of the lab.
  static boolean isOne(CommandLine line) {
    return line.getCommandSpec().userObject() instanceof Elsewhere;
  }

  /// Accepts every argument and runs nothing.
  @Command
  private static final class Elsewhere implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Unmatched
    private List<String> arguments = new ArrayList<>(); // filled by the command line

    @Override
    public Integer call() {
      String command = spec.name() + (arguments.isEmpty() ? "" : " " + String.join(" ", arguments));
      throw new IllegalArgumentException(
          "%s must be run in the source tree, as ./penstock %s (this program has only the commands of a node)"
              .formatted(spec.name(), command));
    }
  }
}
