package io.penstock.resp;

import static io.penstock.resp.RespClient.bytes;
import static io.penstock.resp.RespClient.request;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.node.config.RespSettings;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.UserFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Requests, well formed and not, get the replies that Redis 7.0 gives, byte by byte, in RESP2 and RESP3. The file
/// `redis-replies.txt` has them. Where `redis-server` 7.0 is installed, it gives the replies that are in the file; if
/// the system property `penstock.redis.record` is `true`, the file is written instead.
@Timeout(300)
final class RedisRepliesTest {
  private static final String SECRET = "secret";
  private static final String LAST = "the-last-one";
  private static final String RECORD = "redis-replies.txt";
  private static final Pattern ID = Pattern.compile("(\r\nid\r\n:)\\d+");
  private static final Pattern VERSION = Pattern.compile("\\$\\d+\r\n(7\\.0)\\.\\d+");
  private static final Pattern CLIENTS = Pattern.compile("(?s)[$=]\\d+\r\n(txt:)?id=.*?\r\n\r\n");
  private static final Pattern ESCAPE = Pattern.compile("\\\\(x[0-9A-Fa-f]{2}|.)");

  /// Cases whose replies are to differ, and why.
  private static final Map<String, String> WANTED = Map.ofEntries(
      Map.entry("| $3\\r\\nGET\\r\\n", "a client that sends replies is out of step: its connection ends"),
      Map.entry("| :5\\r\\n", "as above"),
      Map.entry("| *-5\\r\\n", "a length below -1 is none, here as in a string"),
      Map.entry("SET \"\" v", "the empty key is no name of a value"),
      Map.entry("SCAN -1", "a cursor is no negative number"),
      Map.entry("SELECT 16", "there are more databases"),
      Map.entry("AUTH a", "a node without users takes everyone"),
      Map.entry("HELLO 2", "another server, and its version"),
      Map.entry("HELLO 3", "as above"),
      Map.entry("CLIENT SETINFO LIB-NAME x", "of Redis 7.2"),
      Map.entry("CLIENT LIST", "INFO and the metrics of the node tell of connections"),
      Map.entry("CLIENT TRACKING ON", "clients keep nothing of what is stored"),
      Map.entry("CONFIG SET hz 10", "settings are those of the node"),
      Map.entry("COMMAND COUNT", "fewer commands"),
      Map.entry("OBJECT", "no such command"),
      Map.entry("OBJECT ENCODING nosuch", "as above"),
      Map.entry("MULTI ; DISCARD", "a value becomes visible by itself"),
      Map.entry("MSET k v l w ; MGET k l", "as above"),
      Map.entry("KEYS *", "SCAN: no reply may be without bounds"),
      Map.entry("APPEND k v", "values are not changed in place"),
      Map.entry("INCR k", "as above"),
      Map.entry("TIME now", "no such command"),
      Map.entry("SET k v GET", "no request both reads a value and changes it"),
      Map.entry("GETSET k v", "as above"),
      Map.entry("GETDEL k", "as above"),
      Map.entry("GETEX k", "as above"),
      Map.entry("auth: NONSENSE", "a client that is not known hears nothing of commands"),
      Map.entry("auth: PING", "a look whether the door answers needs no password"),
      Map.entry("auth: ECHO a", "as above"),
      Map.entry("auth: CLIENT GETNAME", "libraries say who they are before they say AUTH"),
      Map.entry("auth: HELLO 3", "the text of Redis 7.2"));

  @TempDir
  private Path folder;

  private static List<String> lines(String name) throws IOException {
    try (InputStream file = requireNonNull(RedisRepliesTest.class.getResourceAsStream(name), name)) {
      return new String(file.readAllBytes(), StandardCharsets.US_ASCII).lines()
          .filter(line -> !line.isBlank() && !line.startsWith("# ")).toList();
    }
  }

  /// Replies to the cases, each behind the protocol, the case and a tab.
  private static SortedMap<String, String> recorded() throws IOException {
    SortedMap<String, String> all = new TreeMap<>();
    for (String line : lines(RECORD)) {
      int end = line.indexOf('\t');
      all.put(line.substring(0, end), line.substring(end + 1));
    }
    return all;
  }

  private static byte[] plain(String text) {
    return bytes(ESCAPE.matcher(text).replaceAll(found -> Matcher.quoteReplacement(
        switch (found.group(1).charAt(0)) {
          case 'r' -> "\r";
          case 'n' -> "\n";
          case 't' -> "\t";
          case 'x' -> Character.toString(Integer.parseInt(found.group(1).substring(1), 16));
          default -> found.group(1);
        })));
  }

  private static byte[] words(String one) {
    return request((Object[]) List.of(one.strip().split(" ")).stream()
        .map(word -> word.equals("\"\"") ? new byte[0] : plain(word)).toArray(byte[][]::new));
  }

  /// The bytes of a case, and behind them a request whose reply is the last one.
  private static byte[] sent(String requests, boolean isClosed) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (String one : requests.split(" ; ")) {
      all.writeBytes(one.startsWith("| ") ? plain(one.substring(2)) : words(one));
    }
    if (isClosed) {
      all.writeBytes(request("AUTH", "default", SECRET));
    }
    all.writeBytes(request("ECHO", LAST));
    return all.toByteArray();
  }

  /// What a server replies to a case.
  private static String replies(RespClient client, String requests, boolean isNew, boolean isThree,
      boolean isClosed) throws IOException {
    if (!isNew) {
      client.call("CLIENT", "SETNAME", "x");
      client.call("CLIENT", "SETNAME", "");
    }
    if (isThree && !isNew) {
      client.send(request("HELLO", "3"));
      upToLast(client.send(request("ECHO", "hello")), "hello");
    }
    return upToLast(client.send(sent(requests, isClosed)), LAST);
  }

  private static String upToLast(RespClient client, String last) throws IOException {
    StringBuilder all = new StringBuilder();
    for (String line = client.line();; line = client.line()) {
      if (line.startsWith("(end)")) {
        return all + line;
      }
      all.append(line).append("\r\n");
      if (line.equals(last)) {
        return all.toString();
      }
    }
  }

  private interface Server {
    RespClient connect() throws IOException;
  }

  private static String ask(Server server, String line, boolean isThree) throws IOException {
    String requests = line.replaceFirst("^(auth: )?(new: )?", "");
    boolean isNew = line.startsWith("new: ") || line.startsWith("auth: new: ");
    boolean isClosed = line.startsWith("auth: ");
    try (RespClient cleaner = server.connect(); RespClient client = server.connect()) {
      if (isClosed) {
        cleaner.call("AUTH", SECRET);
      }
      assertThat(cleaner.call("FLUSHALL")).isEqualTo("+OK");
      return replies(client, requests, isNew, isThree, isClosed);
    } catch (IOException e) {
      throw new IOException(line, e);
    }
  }

  /// The replies to each case in each protocol, in the form of the record.
  private static SortedMap<String, String> askAll(Server open, Server closed) throws IOException {
    SortedMap<String, String> all = new TreeMap<>();
    for (boolean isThree : new boolean[] {false, true}) {
      for (String line : lines("redis-requests.txt")) {
        boolean isClosed = line.startsWith("auth: ");
        if (!isThree || !isClosed) { // HELLO needs the password
          String replies = ask(isClosed ? closed : open, line, isThree);
          all.put((isThree ? "3 " : "2 ") + line, shown(steady(replies)));
        }
      }
    }
    return all;
  }

  /// Replies without what differs from run to run: the number of a connection, the last part of the version, and what a
  /// list tells of clients.
  private static String steady(String replies) {
    return CLIENTS.matcher(VERSION.matcher(ID.matcher(replies).replaceAll("$1#")).replaceAll("#\r\n$1.#"))
        .replaceAll("#\r\nid=#\r\n");
  }

  /// Replies in one line of ASCII.
  private static String shown(String replies) {
    StringBuilder all = new StringBuilder();
    for (char each : replies.toCharArray()) {
      switch (each) {
        case '\r' -> all.append("\\r");
        case '\n' -> all.append("\\n");
        case '\\' -> all.append("\\\\");
        default -> all.append(each < ' ' || each > '~' ? "\\x%02x".formatted((int) each) : each);
      }
    }
    return all.toString();
  }

  /// @param others cases whose replies are not those of the record
  private static void requireRecorded(SortedMap<String, String> replies, Set<String> others) throws IOException {
    SortedMap<String, String> recorded = recorded();
    assertThat(replies.keySet()).as("cases with replies in %s", RECORD).isEqualTo(recorded.keySet());
    Map<String, String> unwanted = new TreeMap<>();
    replies.forEach((line, now) -> {
      String redis = requireNonNull(recorded.get(line));
      if (now.equals(redis) == others.contains(line.substring(2))) {
        unwanted.put(line, "recorded: " + redis + "\n       now: " + now);
      }
    });
    unwanted.forEach((line, both) -> System.out.println(line + "\n  " + both));
    assertThat(unwanted).isEmpty();
  }

  @Test
  void replies_areThoseOfRedis_butWhereTheyAreToDiffer() throws IOException {
    UserFile users = UserFile.read(Files.write(folder.resolve("users"),
        List.of(UserFile.lineOf("default", SECRET.toCharArray(), 20, new SecureRandom()))));
    try (OpenDoor open = new OpenDoor(16 << 20, tier -> tier, Map.of(RespSettings.FLUSH, "true"), Access.open());
        OpenDoor closed = new OpenDoor(16 << 20, tier -> tier, Map.of(RespSettings.FLUSH, "true"),
            Access.of(() -> users, AccessRules::open))) {
      open.wallMillis.set(System.currentTimeMillis());
      closed.wallMillis.set(System.currentTimeMillis());
      requireRecorded(askAll(open::connect, closed::connect), WANTED.keySet());
    }
  }

  @Test
  void recordedReplies_areThoseOfRedis() throws IOException {
    try (RedisServer open = new RedisServer(folder);
        RedisServer closed = new RedisServer(folder, "--requirepass", SECRET)) {
      try (RespClient client = open.connect()) {
        String facts = new String(requireNonNull(client.bulk("INFO", "server")), StandardCharsets.US_ASCII);
        assumeTrue(facts.contains("redis_version:7.0."), "redis-server is of another version than 7.0");
      }
      SortedMap<String, String> replies = askAll(open::connect, closed::connect);
      if (Boolean.getBoolean("penstock.redis.record")) {
        Path resources = Path.of(System.getProperty("basedir", ""), "src/test/resources/io/penstock/resp");
        Files.write(resources.resolve(RECORD), Stream.concat(
            Stream.of(
                "# Replies of Redis 7.0: protocol, case of redis-requests.txt, a tab, bytes. # stands for what differs "
                    + "from run to run.",
                "# RedisRepliesTest writes this file, see there."),
            replies.entrySet().stream().map(each -> each.getKey() + "\t" + each.getValue())).toList(),
            StandardCharsets.US_ASCII);
      } else {
        requireRecorded(replies, Set.of());
      }
    }
  }
}
