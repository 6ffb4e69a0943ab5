package io.penstock.node.cli;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/// Says what is wrong with a command line in our words: *name must be rule (was value)*.
final class Complaint {
  private Complaint() {}

  static String of(ParameterException failure) {
    if (failure instanceof UnmatchedArgumentException unmatched && !unmatched.isUnknownOption() && hasCommands(failure.getCommandLine())) {
      return "command must be one of %s (was %s)".formatted(String.join(", ", commands(failure.getCommandLine())), unmatched.getUnmatched().getFirst());
    }
    ArgSpec argument = failure.getArgSpec();
    String value = failure.getValue();
    return argument == null || value == null ? String.valueOf(failure.getMessage()) : ofValue(argument, value, failure);
  }

  /// What was probably meant, if an option or a command is near.
  static Optional<String> nearest(ParameterException failure) {
    if (!(failure instanceof UnmatchedArgumentException unmatched)) {
      return Optional.empty();
    }
    CommandLine command = failure.getCommandLine();
    String word = unmatched.getUnmatched().getFirst();
    String prefix = unmatched.isUnknownOption() ? "" : command.getCommandSpec().qualifiedName() + " ";
    List<String> near = Nearest.of(word.replaceFirst("=.*", ""), unmatched.isUnknownOption() ? options(command) : commands(command));
    return near.isEmpty() ? Optional.empty()
        : Optional.of("Did you mean: " + near.stream().map(name -> prefix + name).collect(Collectors.joining(" or ")) + "?");
  }

  private static List<String> options(CommandLine command) {
    return command.getCommandSpec().options().stream().filter(option -> !option.hidden()).map(OptionSpec::longestName).toList();
  }

  private static String ofValue(ArgSpec argument, String value, ParameterException failure) {
    String name = argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
    if (failure.getCause() instanceof IllegalArgumentException refused) {
      return Reason.about(name, refused);
    }
    Class<?> type = argument.type();
    String rule = type.isEnum() ? "one of " + words(type) : isWhole(type) ? "a whole number" : isNumber(type) ? "a number" : null;
    return rule == null ? String.valueOf(failure.getMessage()) : "%s must be %s (was %s)".formatted(name, rule, value);
  }

  private static String words(Class<?> type) {
    return Arrays.stream(type.getEnumConstants()).map(each -> each.toString().toLowerCase(Locale.ROOT)).collect(Collectors.joining(", "));
  }

  private static boolean isWhole(Class<?> type) {
    return type == int.class || type == Integer.class || type == long.class || type == Long.class;
  }

  private static boolean isNumber(Class<?> type) {
    return type == double.class || type == Double.class;
  }

  private static boolean hasCommands(CommandLine command) {
    return !commands(command).isEmpty();
  }

  static List<String> commands(CommandLine command) {
    return command.getSubcommands().entrySet().stream().filter(entry -> !entry.getValue().getCommandSpec().usageMessage().hidden())
        .map(Map.Entry::getKey).toList();
  }
}
