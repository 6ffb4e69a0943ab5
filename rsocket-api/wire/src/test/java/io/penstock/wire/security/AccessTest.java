package io.penstock.wire.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.rsocket.exceptions.RejectedSetupException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Credentials at SETUP, without sockets.
final class AccessTest {
  private static final String WRONG = "credentials must be those of a user (were not)";
  private static final char[] PASSWORD = "correct horse".toCharArray();
  private static final char[] TOKEN = "0123456789abcdef".toCharArray();

  @TempDir
  Path folder;

  private Access access = Access.open();

  @BeforeEach
  void users() throws IOException {
    Path file = Files.write(folder.resolve("users"),
        List.of("# users", "", "alice:" + SecretHash.Password.of(PASSWORD, 20, new SecureRandom()),
            "alice:" + SecretHash.Password.of("older".toCharArray(), 20, new SecureRandom()),
            UserFile.lineOf("router", TOKEN)));
    UserFile users = UserFile.read(file);
    access = Access.of(() -> users, AccessRules::open);
  }

  private String user(Credentials shown) {
    return user(shown, "here", 0);
  }

  private String user(Credentials shown, Object source, long millis) {
    ByteBuf metadata = shown.metadata(ByteBufAllocator.DEFAULT);
    try {
      return access.begin(metadata, "rsocket", source, millis).caller().user();
    } finally {
      metadata.release();
    }
  }

  private static Credentials simple(String user, String password) {
    return Credentials.simple(user, password.toCharArray());
  }

  @Test
  void rightCredentials_areThoseOfTheirUser() {
    assertThat(user(Credentials.simple("alice", PASSWORD))).isEqualTo("alice");
    assertThat(user(simple("alice", "older"))).isEqualTo("alice");
    assertThat(user(Credentials.bearer(TOKEN))).isEqualTo("router");
  }

  @Test
  void wrongCredentials_areRefused_inTheSameWords() {
    List<Credentials> wrong = List.of(simple("alice", "wrong"), simple("alice", ""), simple("bob", "correct horse"),
        simple("", ""), simple("router", new String(TOKEN)), Credentials.bearer("other".toCharArray()),
        Credentials.bearer(new char[0]), Credentials.bearer(PASSWORD));
    wrong.forEach(shown -> assertThatThrownBy(() -> user(shown)).isInstanceOf(RejectedSetupException.class)
        .hasMessage(WRONG));
    assertThatThrownBy(() -> user(Credentials.none())).hasMessage("SETUP must have credentials (had none)");
  }

  private void guess(String user, int guesses, long millis) {
    for (int i = 0; i < guesses; i++) {
      int number = i;
      assertThatThrownBy(() -> user(simple(user, "guess " + number), "there", millis))
          .isInstanceOf(RejectedSetupException.class);
    }
  }

  private static final String TOO_MANY =
      "secrets of a user that one address shows and that are not right must be <= 10 a minute";

  @Test
  void userWhoFailsOften_isRefusedThereWithoutALook_untilAMinuteIsOver() {
    guess("alice", Attempts.MOST, 1_000);
    assertThatThrownBy(() -> user(Credentials.simple("alice", PASSWORD), "there", 60_999))
        .hasMessageContaining(TOO_MANY);
    assertThat(user(Credentials.simple("alice", PASSWORD), "here", 60_999)).isEqualTo("alice");
    assertThat(user(Credentials.simple("alice", PASSWORD), "there", 60_999))
        .as("what was right before costs nothing to compare").isEqualTo("alice");
    assertThatThrownBy(() -> user(simple("alice", "guess"), "there", 61_000)).hasMessage(WRONG);
  }

  @Test
  void userWhoFailsOften_leavesAllOthersOfTheAddressIn() {
    guess("bob", Attempts.MOST_GUESSES + 1, 1_000);
    assertThat(user(Credentials.simple("alice", PASSWORD), "there", 1_000)).isEqualTo("alice");
    assertThat(user(Credentials.bearer(TOKEN), "there", 1_000)).isEqualTo("router");
  }

  @Test
  void wrongTokens_leaveARightOneIn_andThePasswordsOfTheAddressToo() {
    for (int i = 0; i <= Attempts.MOST_GUESSES; i++) {
      Credentials wrong = Credentials.bearer(("token " + i).toCharArray());
      assertThatThrownBy(() -> user(wrong, "there", 0)).isInstanceOf(RejectedSetupException.class);
    }
    assertThat(user(Credentials.bearer(TOKEN), "there", 0)).isEqualTo("router");
    assertThat(user(Credentials.simple("alice", PASSWORD), "there", 0)).isEqualTo("alice");
  }

  @Test
  void clientThatShowsOneWrongPasswordOnAndOn_isComparedOnce_andLeavesItsUserIn() {
    for (int i = 0; i < 2 * Attempts.MOST_GUESSES; i++) {
      assertThatThrownBy(() -> user(simple("alice", "from before"), "there", 1_000)).hasMessage(WRONG);
    }
    assertThat(access.begin(simple("alice", "from before"), "rsocket", "there", 1_000).isHeavy()).isFalse();
    assertThat(user(Credentials.simple("alice", PASSWORD), "there", 1_000)).isEqualTo("alice");
    assertThat(user(simple("alice", "older"), "there", 1_000)).isEqualTo("alice");
  }

  @Test
  void passwordThatWasWrongElsewhere_isComparedHereToo_soThatTheTimeRevealsNothing() {
    assertThatThrownBy(() -> user(simple("alice", "of another"), "there", 0)).hasMessage(WRONG);
    assertThat(access.begin(simple("alice", "of another"), "rsocket", "there", 0).isHeavy()).isFalse();
    assertThat(access.begin(simple("alice", "of another"), "rsocket", "here", 0).isHeavy()).isTrue();
  }

  @Test
  void attemptThatIsNotHeavy_staysSo_whenItsMarkIsForgotten() {
    assertThatThrownBy(() -> user(simple("alice", "wrong"), "there", 0)).hasMessage(WRONG);
    Access.Attempt begun = access.begin(simple("alice", "wrong"), "rsocket", "there", 0);
    assertThat(begun.isHeavy()).isFalse();
    assertThatThrownBy(() -> user(simple("alice", "other"), "there", 60_000)).hasMessage(WRONG);
    assertThatThrownBy(begun::caller).hasMessage(WRONG);
    assertThat(access.begin(simple("alice", "wrong"), "rsocket", "there", 60_000).isHeavy())
        .as("the attempt compared nothing").isTrue();
  }

  @Test
  void addressThatGuessesForManyUsers_hasABoundOverAll() throws IOException {
    List<String> names = IntStream.range(0, 10).mapToObj(i -> "user" + i).toList();
    Path file = Files.write(folder.resolve("ten"),
        names.stream().map(name -> name + ":" + SecretHash.Password.of(PASSWORD, 1, new SecureRandom())).toList());
    UserFile users = UserFile.read(file);
    access = Access.of(() -> users, AccessRules::open);
    for (String name : names) {
      assertThat(user(Credentials.simple(name, PASSWORD))).isEqualTo(name);
      guess(name, Attempts.MOST_GUESSES / names.size(), 1_000);
    }
    for (String name : names) {
      assertThatThrownBy(() -> user(Credentials.simple(name, PASSWORD), "there", 1_000)).hasMessageContaining(TOO_MANY);
      assertThat(user(Credentials.simple(name, PASSWORD))).isEqualTo(name);
    }
  }

  @Test
  void periodOfAnAddressThatEndsInThatOfAUser_leavesTheBoundOfGuesses() {
    assertThat(user(Credentials.simple("alice", PASSWORD))).isEqualTo("alice");
    assertThatThrownBy(() -> user(simple("bob", "guess"), "there", 0)).hasMessage(WRONG);
    guess("alice", Attempts.MOST, 50_000);
    guess("alice", Attempts.MOST_GUESSES + Attempts.MOST, 60_000);
    assertThatThrownBy(() -> user(Credentials.simple("alice", PASSWORD), "there", 109_000))
        .hasMessageContaining(TOO_MANY);
  }

  @Test
  void ofTheNamesThatAnAddressInvents_fewAreCompared() {
    for (int i = 0; i < Attempts.MOST_OF_SOURCE; i++) {
      String name = "user" + i;
      assertThatThrownBy(() -> user(simple(name, "guess"), "there", 0)).hasMessage(WRONG);
    }
    assertThatThrownBy(() -> user(simple("another", "guess"), "there", 0)).hasMessageContaining(TOO_MANY);
    assertThat(user(Credentials.simple("alice", PASSWORD), "here", 0)).isEqualTo("alice");
  }

  @Test
  void addressThatGuesses_isRefusedWithARightPasswordToo_soThatItLearnsNothing() {
    assertThat(user(Credentials.simple("alice", PASSWORD))).isEqualTo("alice");
    guess("alice", Attempts.MOST_GUESSES, 1_000);
    assertThatThrownBy(() -> user(Credentials.simple("alice", PASSWORD), "there", 60_999))
        .hasMessageContaining(TOO_MANY);
    assertThat(user(Credentials.simple("alice", PASSWORD), "there", 61_000)).isEqualTo("alice");
    assertThat(user(Credentials.simple("alice", PASSWORD), "here", 1_000)).isEqualTo("alice");
  }

  @Test
  void successes_doNotCountAsAttempts() {
    for (int i = 0; i < 3 * Attempts.MOST; i++) {
      assertThat(user(Credentials.bearer(TOKEN))).isEqualTo("router");
    }
  }

  @Test
  void attemptsThatAreNotDecided_count() {
    List<Access.Attempt> begun = new ArrayList<>();
    for (int i = 0; i < Attempts.MOST; i++) {
      begun.add(access.begin(simple("alice", "guess " + i), "rsocket", "there", 0));
    }
    assertThat(begun).allMatch(Access.Attempt::isHeavy);
    assertThatThrownBy(() -> access.begin(simple("alice", "another"), "rsocket", "there", 0))
        .isInstanceOf(RejectedSetupException.class);
  }

  @Test
  void manyConnectionsOfOneUser_beginTogether() {
    List<Access.Attempt> begun = new ArrayList<>();
    for (int i = 0; i < 5 * Attempts.MOST; i++) {
      begun.add(access.begin(Credentials.simple("alice", PASSWORD), "rsocket", "there", 0));
    }
    assertThat(begun).allSatisfy(attempt -> assertThat(attempt.caller().user()).isEqualTo("alice"));
  }

  @Test
  void manyAddresses_leaveNoMoreThanABound() {
    Attempts attempts = new Attempts();
    SecretMark.Key key = new SecretMark.Key(new SecureRandom());
    List<SecretMark> marks =
        IntStream.rangeClosed(0, Attempts.MOST).mapToObj(i -> key.of("alice", ("guess " + i).toCharArray())).toList();
    Attempts.Who first = new Attempts.Who(0, "alice");
    marks.forEach(mark -> attempts.begin(first, mark, 0));
    assertThat(attempts.begin(first, marks.getLast(), 0)).isEqualTo(Attempts.Answer.REFUSE);
    for (int source = 1; source < 100_000; source++) {
      attempts.begin(new Attempts.Who(source, "alice"), marks.getFirst(), 0);
    }
    assertThat(attempts.begin(first, marks.getLast(), 0)).as("the first is forgotten")
        .isEqualTo(Attempts.Answer.COMPARE);
    Attempts.Who last = new Attempts.Who(99_999, "alice");
    marks.forEach(mark -> attempts.begin(last, mark, 0));
    assertThat(attempts.begin(last, marks.getLast(), 0)).isEqualTo(Attempts.Answer.REFUSE);
  }

  @Test
  void hostileMetadata_isRefused_andNothingElse() {
    byte[] good = bytes(Credentials.simple("alice", PASSWORD));
    for (int seed = 0; seed < 3_000; seed++) {
      Random random = new Random(seed);
      byte[] sent = good.clone();
      for (int i = random.nextInt(4); i >= 0; i--) {
        sent[random.nextInt(sent.length)] = (byte) random.nextInt();
      }
      ByteBuf metadata = Unpooled.wrappedBuffer(sent, 0, random.nextInt(sent.length + 1));
      try {
        assertThat(access.begin(metadata, "rsocket", seed, 0).caller().user()).as("seed " + seed).isEqualTo("alice");
        assertThat(sent).as("seed " + seed).containsExactly(good);
      } catch (RejectedSetupException e) {
        assertThat(String.valueOf(e.getMessage())).as("seed " + seed).contains(" must ").doesNotContain("horse");
      }
      assertThat(metadata.refCnt()).isOne();
    }
  }

  private static byte[] bytes(Credentials credentials) {
    ByteBuf metadata = credentials.metadata(ByteBufAllocator.DEFAULT);
    try {
      return ByteBufUtil.getBytes(metadata);
    } finally {
      metadata.release();
    }
  }

  @Test
  void credentialsTwice_orTooLong_areRefused() {
    byte[] one = bytes(Credentials.bearer(TOKEN));
    assertThatThrownBy(() -> access.begin(Unpooled.wrappedBuffer(one, one), "rsocket", "here", 0))
        .hasMessageContaining("credentials must be of RSocket's simple or bearer authentication");
    assertThatThrownBy(
        () -> access.begin(Unpooled.wrappedBuffer(bytes(Credentials.bearer(new char[2_000]))), "rsocket", "here", 0))
        .hasMessageContaining("credentials must be of RSocket's simple or bearer authentication");
  }

  @Test
  void noText_hasASecretInIt() {
    assertThat(List.of(Credentials.simple("alice", PASSWORD), Credentials.bearer(TOKEN)))
        .allSatisfy(shown -> assertThat(shown.toString()).doesNotContain("horse").doesNotContain("0123"));
  }

  @Test
  void userFile_namesTheLine_andQuotesNoSecret() throws IOException {
    Path file = folder.resolve("bad");
    for (String line : List.of("alice", "alice:secret", ":sha256$" + "0".repeat(64), "a b:sha256$" + "0".repeat(64),
        "alice:pbkdf2-sha256$99999999$" + "0".repeat(32) + "$" + "0".repeat(64))) {
      Files.write(file, List.of(UserFile.lineOf("ok", TOKEN), line));
      assertThatThrownBy(() -> UserFile.read(file)).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("line 2").hasMessageNotContaining("secret$").hasMessageNotContaining(":secret");
    }
    Files.write(file, List.of("# none"));
    assertThatThrownBy(() -> UserFile.read(file)).hasMessageContaining("must have a user");
  }

  @Test
  void newLine_isOfItsPassword() throws IOException {
    Path file = Files.write(folder.resolve("new"),
        List.of(UserFile.lineOf("carol", PASSWORD, 1_000, new SecureRandom())));
    UserFile users = UserFile.read(file);
    assertThat(users.line(Credentials.simple("carol", PASSWORD)).map(UserFile.Line::user)).contains("carol");
    assertThat(users.quickLine(Credentials.simple("carol", PASSWORD))).isNotNull();
    assertThat(users.quickLine(simple("carol", "other"))).isNull();
    assertThat(UserFile.newToken(new SecureRandom())).hasSize(64);
  }

  @Test
  void line_showsNoSecret() throws IOException {
    String written = UserFile.lineOf("router", TOKEN);
    UserFile users = UserFile.read(Files.write(folder.resolve("one"), List.of(written)));
    UserFile.Line line = users.line(Credentials.bearer(TOKEN)).orElseThrow();
    assertThat(line.text()).isEqualTo(written);
    assertThat(line.toString()).contains("router").doesNotContain(line.secret().toString());
    assertThat(users.has(line)).isTrue();
  }

  @Test
  void authorization_isReadAsItIsWritten() {
    for (Credentials each : List.of(simple("alice", "correct: horse"), Credentials.bearer(TOKEN))) {
      assertThat(Credentials.ofAuthorization(each.authorization()).map(Credentials::authorization))
          .contains(each.authorization());
    }
    assertThat(Credentials.ofAuthorization("bearer  " + new String(TOKEN)).map(this::user)).contains("router");
    for (String other : List.of("", "Basic", "Basic ", "Basic %%", "Basic " + "OnNlY3JldA==", "Bearer ", "Digest a")) {
      assertThat(Credentials.ofAuthorization(other)).as(other).isEmpty();
    }
  }

  @Test
  void rules_giveTheHighestRoleOfAUserInASpace() {
    AccessRules rules = new AccessRules(Map.of(
        "alice", List.of(new Grant(Role.WRITER, Set.of("chat")), Grant.everywhere(Role.READER)),
        "bob", List.of(new Grant(Role.ADMIN, Set.of("code"))),
        AccessRules.ANY_USER, List.of(new Grant(Role.READER, Set.of("chat")))));
    assertThat(rules.role("alice", "chat")).contains(Role.WRITER);
    assertThat(rules.role("alice", "code")).contains(Role.READER);
    assertThat(rules.role("bob", "code")).contains(Role.ADMIN);
    assertThat(rules.role("bob", "chat")).isEmpty();
    assertThat(rules.role("other", "chat")).contains(Role.READER);
    assertThat(rules.role("other", "code")).isEmpty();
  }
}
