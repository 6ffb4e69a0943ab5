package io.penstock.examples;

import io.penstock.PenstockVersion;
import io.penstock.examples.conversations.ConversationsCommand;
import io.penstock.examples.disaggregated.DisaggregatedCommand;
import io.penstock.examples.engine.EngineCommand;
import io.penstock.examples.hello.HelloCommand;
import io.penstock.examples.incidents.IncidentsCommand;
import io.penstock.examples.load.LoadCommand;
import io.penstock.examples.pipe.PipeCommand;
import io.penstock.examples.pressure.PressureCommand;
import io.penstock.examples.recorded.RecordedCommand;
import io.penstock.examples.sidecar.SideCarCommand;
import io.penstock.examples.stream.StreamCommand;
import io.penstock.examples.tiers.TiersCommand;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Failures;
import io.penstock.node.text.Nearest;
import io.penstock.node.text.Reason;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;

/// Runs one example by name: `penstock example NAME [ARGUMENT…]`. Without a name it lists all examples.
public final class Examples {
  /// The examples, in the order in which a newcomer would run them.
  private static final List<Story> STORIES = List.of(
      new Story("hello", "the KV cache of a prompt goes into a node and comes back", HelloCommand::new),
      new Story("engine", "an engine keeps its KV cache in a node through 30 lines, and answers the same",
          EngineCommand::new),
      new Story("load", "chats for prefills and decodes behind HTTP: times with and without the cache, answers equal",
          LoadCommand::new),
      new Story("stream", "a slow reader of a large stream: memory stays bounded", StreamCommand::new),
      new Story("pipe", "tensors from one process to another, in order, every byte verified", PipeCommand::new),
      new Story("tiers", "blocks are demoted from device to host memory to disk, and come back", TiersCommand::new),
      new Story("pressure", "more blocks than memory holds, as fast as they are accepted: the disk sets the pace",
          PressureCommand::new),
      new Story("recorded", "flows and decisions of a pipeline are recorded in memory, and rules over them verified",
          RecordedCommand::new),
      new Story("sidecar", "blocks to the device of another process and back, over a Unix socket", SideCarCommand::new),
      new Story("conversations", "a shared system prompt, turn after turn: which tier saves how much prefill",
          ConversationsCommand::new),
      new Story("disaggregated",
          "prefill and decode with other parallelism: a transformer answers the same, bit for bit",
          DisaggregatedCommand::new),
      new Story("incidents", "faults of the field as recordings: each played, its event found, and run on Penstock",
          IncidentsCommand::new));

  private Examples() {}

  /// Runs the example that the first argument names, with the other arguments, and ends the process with its exit code:
  /// 2 if there is no such example.
  ///
  /// @param args the name of an example, then its own arguments
  public static void main(String[] args) {
    System.exit(run(args, Console.ofProcess()));
  }

  /// Runs an example without ending the process.
  ///
  /// @return the exit code
  public static int run(String[] args, Console console) {
    return run(STORIES, args, console);
  }

  static int run(List<Story> stories, String[] args, Console console) {
    if (args.length == 0 || args[0].equals("--help")) {
      list(stories, console.out());
      return ExitCode.OK;
    }
    if (args[0].equals("--version")) {
      console.print(version());
      return ExitCode.OK;
    }
    Optional<Story> story = stories.stream().filter(known -> known.name().equals(args[0])).findFirst();
    if (story.isEmpty()) {
      console.say("example must be one of those listed here (was " + Reason.printable(args[0]) + ")");
      List<String> near = Nearest.of(args[0], stories.stream().map(Story::name).toList());
      if (!near.isEmpty()) {
        console.say("Did you mean: " + String.join(" or ", near) + "?");
      }
      list(stories, console.err());
      return ExitCode.USAGE;
    }
    return commandLine(story.get(), console).execute(Arrays.copyOfRange(args, 1, args.length));
  }

  private static CommandLine commandLine(Story story, Console console) {
    Failures failures = new Failures(console);
    CommandLine line = new CommandLine(story.command().apply(console));
    line.getCommandSpec().versionProvider(() -> new String[] {version()});
    return line
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setCommandName("penstock example " + story.name())
        .setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8))
        .setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8))
        .setExecutionExceptionHandler(failures)
        .setExecutionStrategy(failures)
        .setParameterExceptionHandler(failures);
  }

  private static String version() {
    return "penstock " + PenstockVersion.current();
  }

  private static void list(List<Story> stories, PrintStream to) {
    to.println("examples:" + (stories.isEmpty() ? " none" : ""));
    stories.forEach(story -> to.printf("  %-14s %s%n", story.name(), story.line()));
  }
}
