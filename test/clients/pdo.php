<?php
// PDO (Debian: php-pgsql).  PGHOST and the like say which server.
$db = new PDO('pgsql:', null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);

function ids(string $sql, array $values): string
{
    global $db;
    $statement = $db->prepare($sql);
    $statement->execute($values);
    return implode(' ', $statement->fetchAll(PDO::FETCH_COLUMN));
}

$text = 'The bridge was opened by the mayor on Monday!';
$radius = 3;
echo 'resembles ', ids('SELECT id FROM docs WHERE sk <%> shingle_hashes(?) <= ?', [$text, 0.2]), "\n";
echo 'within ', ids('SELECT id FROM docs WHERE fp <~> to_simhash(?) <= ? ORDER BY id', [$text, $radius]), "\n";
echo 'nearest ', ids('SELECT id FROM docs ORDER BY fp <~> to_simhash(?) LIMIT ?', [$text, 1]), "\n";

// A fingerprint is a string of 16 hexadecimal digits, and an array is one: {1,2,3}.
[$fp, $sig, $sk] = $db->query('SELECT fp, sig, sk FROM docs WHERE id = 1')->fetch(PDO::FETCH_NUM);
echo 'fingerprint ', ids('SELECT id FROM docs WHERE fp = ?', [$fp]), "\n";
echo 'null ', ids('SELECT id FROM docs WHERE fp IS NOT DISTINCT FROM ?', [null]), "\n";

try {
    ids('SELECT id FROM docs WHERE fp = ?', ['no fingerprint']);
} catch (PDOException $e) {
    echo 'wrong input ', $e->getCode(), "\n";
}

try {
    ids('INSERT INTO docs (body) VALUES (?)', [$text]);
} catch (PDOException $e) {
    echo 'duplicate ', $e->getCode(), "\n";
}

$db->exec('SET plan_cache_mode = force_generic_plan');
if (str_contains(ids('EXPLAIN SELECT id FROM docs WHERE fp <~> to_simhash(?) <= ?', [$text, $radius]), 'docs_fp')) {
    echo "plan uses the index\n";
}

echo 'signatures ', ids('SELECT id FROM docs WHERE sig % ? ORDER BY id', [$sig]), "\n";
echo 'sketches ', ids('SELECT id FROM docs WHERE sk && ? ORDER BY id', [$sk]), "\n";
