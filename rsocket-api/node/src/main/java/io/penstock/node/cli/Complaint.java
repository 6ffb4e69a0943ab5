package io.penstock.node.cli;

import io.penstock.node.text.Nearest;
import io.penstock.node.text.Reason;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/// Reports a mistake in a command line in our words: *name must be rule (was value)*.
final class Complaint {
  private Complaint() {}

  /// The error to report first: an unknown word before a missing argument, for it may be that argument, mistyped.
  static ParameterException first(ParameterException found) {
    List<String> unknown = found.getCommandLine().getUnmatchedArguments();
    return found instanceof MissingParameterException && !unknown.isEmpty()
        ? new UnmatchedArgumentException(found.getCommandLine(), unknown)
        : found;
  }

  static String of(ParameterException failure) {
    return switch (failure) {
      case UnmatchedArgumentException e -> ofUnmatched(e);
      case MissingParameterException e when !e.getMissing().isEmpty() -> ofMissing(e);
      case OverwrittenOptionException e -> name(e.getOverwritten()) + " must be given once (was given again)";
      default -> {
        ArgSpec argument = failure.getArgSpec();
        String value = failure.getValue();
        yield argument == null || value == null ? words(failure) : ofValue(argument, value, failure);
      }
    };
  }

  private static String ofUnmatched(UnmatchedArgumentException failure) {
    CommandLine command = failure.getCommandLine();
    String word = failure.getUnmatched().getFirst();
    boolean isOption = failure.isUnknownOption();
    if (isOption || nearest(failure).isPresent()) {
      return "%s must be one that %s has (was %s)".formatted(isOption ? "option" : "command",
          command.getCommandSpec().qualifiedName(), word);
    }
    return hasCommands(command)
        ? "command must be one of %s (was %s)".formatted(String.join(", ", commands(command)), word)
        : "argument must be left out, for %s takes no other (was %s)"
            .formatted(command.getCommandSpec().qualifiedName(), word);
  }

  /// Text for an option without its value, or for a missing argument.
  private static String ofMissing(MissingParameterException failure) {
    boolean isValue = words(failure).contains(" for option ");
    return failure.getMissing().stream().map(Complaint::name).collect(Collectors.joining(", "))
        + (isValue ? " must have a value" : " must be given");
  }

  private static String words(ParameterException failure) {
    return String.valueOf(failure.getMessage());
  }

  /// The option or command that was probably meant, if one is near.
  static Optional<String> nearest(ParameterException failure) {
    if (!(failure instanceof UnmatchedArgumentException unmatched)) {
      return Optional.empty();
    }
    CommandLine command = failure.getCommandLine();
    String word = unmatched.getUnmatched().getFirst();
    String prefix = unmatched.isUnknownOption() ? "" : command.getCommandSpec().qualifiedName() + " ";
    List<String> near = unmatched.isUnknownOption()
        ? Nearest.of(word.replaceFirst("=.*", ""), options(command))
        : Nearest.of(word, commands(command)).stream().limit(1).toList();
    return near.isEmpty()
        ? Optional.empty()
        : Optional
            .of("Did you mean: " + near.stream().map(name -> prefix + name).collect(Collectors.joining(" or ")) + "?");
  }

  private static List<String> options(CommandLine command) {
    return command.getCommandSpec().options().stream().map(OptionSpec::longestName).toList();
  }

  private static String ofValue(ArgSpec argument, String value, ParameterException failure) {
    String name = name(argument);
    if (failure.getCause() instanceof IllegalArgumentException refused) {
      return Reason.about(name, refused);
    }
    Class<?> type = argument.typeInfo().isCollection() ? argument.auxiliaryTypes()[0] : argument.type();
    String rule =
        type.isEnum() ? "one of " + words(type) : isWhole(type) ? "a whole number" : isNumber(type) ? "a number" : null;
    return rule == null ? words(failure) : "%s must be %s (was %s)".formatted(name, rule, value);
  }

  private static String name(ArgSpec argument) {
    return argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
  }

  private static String words(Class<?> type) {
    return Arrays.stream(type.getEnumConstants()).map(each -> each.toString().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));
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
    return command.getSubcommands().entrySet().stream()
        .filter(entry -> !entry.getValue().getCommandSpec().usageMessage().hidden())
        .map(Map.Entry::getKey).toList();
  }
}
