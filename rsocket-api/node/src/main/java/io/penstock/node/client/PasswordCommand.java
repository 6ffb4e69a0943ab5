package io.penstock.node.client;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.OwnerFile;
import io.penstock.wire.security.UserFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `penstock password`: makes a line of the file that `auth.users` names.
@Command(
    name = "password",
    description = {"Makes a line for the file of users of a node.", "",
      "The setting auth.users names that file. The command reads a password from standard input and prints the name"
          + " with its salted hash. With --new-token it makes a random token instead, and writes that to a file for the"
          + " client.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock password alice < password.txt >> users",
      "  penstock password router --new-token router.token >> users", ""})
public final class PasswordCommand implements Callable<Integer> {
  private final Console console;
  private final SecureRandom random = new SecureRandom();

  @Parameters(paramLabel = "USER", description = "Name of the user: letters, digits and . _ @ -")
  private String user = "";

  @Option(names = "--new-token", paramLabel = "FILE",
      description = "Write a new token there, readable by this user alone; the file must not exist.")
  private @Nullable Path newToken;

  @Option(names = "--rounds", paramLabel = "N", defaultValue = "600000",
      description = "Rounds of the hash of a password (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(names = "--json", description = "Print the line for machines.")
  private boolean json;

  PasswordCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    String line = newToken == null ? ofPassword() : ofToken(newToken);
    if (json) {
      console.json(Map.of("line", line));
    } else {
      console.print(line);
    }
    return ExitCode.OK;
  }

  private String ofPassword() throws IOException {
    char[] password = read();
    try {
      return UserFile.lineOf(user, password, rounds, random);
    } finally {
      Arrays.fill(password, '\0');
    }
  }

  private char[] read() throws IOException {
    java.io.Console terminal = System.console();
    if (console.isTerminal() && terminal != null && terminal.isTerminal()) {
      char[] typed = terminal.readPassword("password of %s: ", user);
      return typed == null ? new char[0] : typed;
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(console.in(), StandardCharsets.UTF_8));
    String line = in.readLine();
    return line == null ? new char[0] : line.toCharArray();
  }

  private String ofToken(Path file) throws IOException {
    char[] token = UserFile.newToken(random);
    String line = UserFile.lineOf(user, token);
    try {
      OwnerFile.create(file, new String(token));
    } catch (FileAlreadyExistsException e) {
      throw new IOException("--new-token must be a file that does not exist (was there: " + file + ")", e);
    }
    return line;
  }
}
