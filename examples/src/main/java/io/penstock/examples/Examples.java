package io.penstock.examples;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// Runs one example by name: `penstock example NAME [ARGUMENT…]`. Without a name it lists what there is.
public final class Examples {
  private static final int MISUSED = 2;

  /// What there is to run, in the order in which a newcomer would.
  private static final List<Story> STORIES = List.of();

  private Examples() {}

  /// Runs the example that the first argument names, with the other arguments; ends with exit code 2 if
  /// there is no such example.
  ///
  /// @param args the name of an example, then its own arguments
  /// @throws Exception whatever ends the example
  public static void main(String[] args) throws Exception {
    int code = run(STORIES, args, System.out, System.err);
    if (code != 0) {
      System.exit(code);
    }
  }

  static int run(List<Story> stories, String[] args, PrintStream out, PrintStream err) throws Exception {
    if (args.length == 0) {
      list(stories, out);
      return 0;
    }
    Optional<Story> story = stories.stream().filter(known -> known.name().equals(args[0])).findFirst();
    if (story.isEmpty()) {
      err.println("example must be one of those listed here (was " + args[0] + ")");
      list(stories, err);
      return MISUSED;
    }
    story.get().main().main(Arrays.copyOfRange(args, 1, args.length));
    return 0;
  }

  private static void list(List<Story> stories, PrintStream to) {
    to.println("examples:" + (stories.isEmpty() ? " none" : ""));
    stories.forEach(story -> to.printf("  %-10s %s%n", story.name(), story.line()));
  }
}
