// JDBC (Debian: default-jdk-headless, libpostgresql-jdbc-java, libjunixsocket-java and -jni).
// PGHOST and the like say which server.
import java.sql.*;

public class Jdbc {
    static Connection db;

    static String ids(String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = db.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++)
                statement.setObject(i + 1, values[i]);
            StringBuilder ids = new StringBuilder();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next())
                    ids.append(' ').append(rows.getString(1));
            }
            return ids.toString();
        }
    }

    public static void main(String[] args) throws SQLException {
        // PGHOST is the directory of the socket.  Over TCP, the address is the host's alone.
        db = DriverManager.getConnection("jdbc:postgresql://localhost/" + System.getenv("PGDATABASE")
            + "?user=" + System.getenv("PGUSER")
            + "&socketFactory=org.newsclub.net.unix.AFUNIXSocketFactory$FactoryArg"
            + "&socketFactoryArg=" + System.getenv("PGHOST") + "/.s.PGSQL.5432");
        String text = "The bridge was opened by the mayor on Monday!";
        int radius = 3;
        System.out.println("resembles" + ids("SELECT id FROM docs WHERE sk <%> shingle_hashes(?) <= ?", text, 0.2));
        System.out.println("within" + ids("SELECT id FROM docs WHERE fp <~> to_simhash(?) <= ? ORDER BY id", text, radius));
        System.out.println("nearest" + ids("SELECT id FROM docs ORDER BY fp <~> to_simhash(?) LIMIT ?", text, 1));

        ResultSet first = db.createStatement().executeQuery("SELECT fp, sig, sk FROM docs WHERE id = 1");
        first.next();
        System.out.println("fingerprint" + ids("SELECT id FROM docs WHERE fp = ?::simhash", first.getString("fp")));
        // A string is bound as a varchar: an INSERT takes it, a comparison without a cast does not.
        db.createStatement().execute("CREATE TEMP TABLE kept (fp simhash)");
        try (PreparedStatement insert = db.prepareStatement("INSERT INTO kept VALUES (?)")) {
            insert.setString(1, first.getString("fp"));
            insert.executeUpdate();
        }
        try (PreparedStatement search = db.prepareStatement("SELECT FROM kept WHERE fp = ?")) {
            search.setString(1, first.getString("fp"));
            search.executeQuery();
            throw new AssertionError("an implicit cast");
        } catch (SQLException e) {
            if (!e.getSQLState().equals("42883"))
                throw e;
        }
        System.out.println("null" + ids("SELECT id FROM docs WHERE fp IS NOT DISTINCT FROM ?::simhash", (Object) null));
        try {
            ids("SELECT id FROM docs WHERE fp = ?::simhash", "no fingerprint");
        } catch (SQLException e) {
            System.out.println("wrong input " + e.getSQLState());
        }
        try {
            ids("INSERT INTO docs (body) VALUES (?) RETURNING id", text);
        } catch (SQLException e) {
            System.out.println("duplicate " + e.getSQLState());
        }
        db.createStatement().execute("SET plan_cache_mode = force_generic_plan");
        db.unwrap(org.postgresql.PGConnection.class).setPrepareThreshold(1);
        try (PreparedStatement plan = db.prepareStatement("EXPLAIN SELECT id FROM docs WHERE fp <~> to_simhash(?) <= ?")) {
            plan.setString(1, text);
            plan.setInt(2, radius);
            boolean used = false;
            for (ResultSet lines = plan.executeQuery(); lines.next(); )
                used |= lines.getString(1).contains("docs_fp");
            if (used)
                System.out.println("plan uses the index");
        }
        System.out.println("signatures" + ids("SELECT id FROM docs WHERE sig % ?::minhash ORDER BY id", first.getString("sig")));
        System.out.println("sketches" + ids("SELECT id FROM docs WHERE sk && ? ORDER BY id", first.getArray("sk")));
    }
}
