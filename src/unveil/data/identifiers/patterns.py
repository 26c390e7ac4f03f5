"""Patterns of direct identifiers: words in column names and value shapes.

Words are those of English, German, French, Spanish, Italian and Dutch.
"""

import re
import unicodedata
from collections.abc import Mapping

_LONGEST_RUN = 4
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Names of columns by what they hold, in lower case, without accents, and with the words run together.
TERMS: Mapping[str, frozenset[str]] = {
    kind: _set(terms)
    for kind, terms in {
        "email": """email emails mail emailaddress mailaddress emailadresse mailadresse courriel adressemail
            adresseemail correo correoelectronico postaelettronica emailadres""",
        "url": """url urls website webpage homepage webseite siteweb sitioweb paginaweb sitoweb linkedin""",
        "ip address": """ip ipaddress ipaddr ipadresse adresseip direccionip indirizzoip ipadres""",
        "account number": """iban accountnumber accountno accountnr acctno bankaccount bankaccountnumber creditcard
            creditcardnumber debitcard cardnumber policynumber policyno kontonummer kontonr bankverbindung kreditkarte
            kreditkartennummer numerocompte numerodecompte comptebancaire cartebancaire numerocuenta numerodecuenta
            cuentabancaria tarjetacredito tarjetadecredito contocorrente numeroconto cartadicredito rekeningnummer
            bankrekening creditcardnummer polisnummer""",
        "national id": """ssn socialsecurity socialsecuritynumber socialsecurityno nationalid nationalinsurance
            nationalinsurancenumber nino nhsnumber nhsno taxid taxnumber tin passport passportnumber passportno
            driverlicense driverslicense driverlicence driverslicence drivinglicence licensenumber licencenumber
            personnummer personalausweis ausweisnummer reisepass reisepassnummer steuerid steuernummer steueridnr
            steueridentifikationsnummer sozialversicherungsnummer svnr rentenversicherungsnummer versichertennummer
            krankenversichertennummer fuehrerschein fuhrerschein nir securitesociale numerosecuritesociale
            numerodesecuritesociale numsecu passeport permisdeconduire dni nie nif cedula pasaporte seguridadsocial
            numeroseguridadsocial carnetdeconducir codicefiscale passaporto cartaidentita tesserasanitaria patente bsn
            burgerservicenummer rijksregisternummer paspoort paspoortnummer rijbewijs cpf pesel aadhaar sin hetu""",
        "date of birth": """dob dateofbirth birthdate birthday birthdt bdate birth born geburtsdatum gebdatum gebdat
            geburtstag geburt datenaissance datedenaissance naissance ddn fechanacimiento fechadenacimiento nacimiento
            datanascita datadinascita nascita geboortedatum geboortedag geboorte""",
        "coordinates": """lat lon lng long latitude longitude gps coordinates coordinate coords geolocation latlon
            latlong breitengrad laengengrad langengrad koordinaten geokoordinaten coordonnees latitud longitud
            coordenadas latitudine longitudine breedtegraad lengtegraad coordinaten""",
        "phone": """phone phones telephone tel mobile cell cellphone mobilephone phonenumber phoneno fax faxnumber
            telefon telefonnummer telefonnr telnr handy handynummer mobil mobilnummer mobiltelefon telefax portable
            numerotelephone numerodetelephone telefono telefonos movil celular numerotelefono cellulare telefoon
            telefoonnummer mobiel gsm""",
        "postcode": """zip zips zipcode zipcodes postcode postcodes postalcode postal plz postleitzahl codepostal cp
            codigopostal codicepostale cap""",
        "address": """address addr addresses street streetname streetaddress homeaddress residence adresse adressen
            anschrift strasse strassenname wohnadresse postanschrift hausnummer rue domicile direccion calle domicilio
            indirizzo via adres straat straatnaam woonadres""",
        "name": """name names nom nombre nome naam firstname lastname surname fullname forename givenname familyname
            middlename maidenname fname lname nickname initials vorname nachname familienname zuname geburtsname
            initialen prenom prenoms nomdefamille nomcomplet apellido apellidos nombrecompleto nombres cognome
            voornaam achternaam familienaam""",
        "free text": """comment comments note notes remark remarks freetext description narrative memo message feedback
            verbatim bemerkung bemerkungen kommentar kommentare anmerkung anmerkungen notiz notizen freitext
            beschreibung anamnese commentaire commentaires remarque remarques observaciones comentario comentarios
            nota notas descripcion commento commenti osservazioni descrizione opmerking opmerkingen notitie notities
            toelichting omschrijving""",
        "record id": """id ids identifier identifiers uuid guid key rowid recordid recordnumber recordno mrn patientid
            personid subjectid userid customerid clientid caseid casenumber caseno patientnumber customernumber
            employeenumber studentnumber membernumber serial serialnumber licenseplate licenceplate numberplate vin
            imei deviceid macaddress username login kennung kennzeichen aktenzeichen fallnummer patientennummer
            kundennummer personalnummer matrikelnummer mitgliedsnummer benutzername identifiant matricule
            numerodossier numeropatient numeroclient identificador matricula expediente historiaclinica numerocliente
            usuario identificativo matricola targa codicepaziente codicecliente patientnummer klantnummer
            dossiernummer personeelsnummer studentnummer lidnummer kenteken gebruikersnaam""",
    }.items()
}

#: Words that mean something else too: alone, without values of the right shape, they say nothing.
AMBIGUOUS = _set(
    """mail ip tin nie nif nir sin cap cp lat lon lng long gps cell handy mobil mobile mobiel portable birth born geburt
    naissance nacimiento nascita geboorte via residence patente postal key serial message description beschreibung
    descripcion descrizione omschrijving hausnummer domicile coordinate linkedin feedback passport nombre"""
)
#: The name of what? Of these, of one among them, or of a file, a product, a country.
GENERIC = frozenset(["name", "names", "nom", "nombre", "nome", "naam"])
PERSONS = _set(
    """first last full given family middle maiden birth sur legal real patient person people customer client user
    employee worker student pupil member subject participant respondent contact guardian parent mother father spouse
    wife husband partner child doctor physician nurse teacher author owner holder applicant sender recipient tenant
    passenger guest household patienten personen kunden mitarbeiter schueler mitglied mitglieder teilnehmer kontakt
    mutter vater kind arzt halter antragsteller haushalt haushalts complet famille personne employe eleve etudiant
    membre mere pere enfant medecin conjoint beneficiaire menage completo persona paciente cliente empleado alumno
    miembro madre padre hijo medico titular hogar paziente dipendente studente genitore figlio intestatario famiglia
    volledige klant medewerker werknemer leerling lid moeder vader arts houder huishouden of the de du di del der des
    van s y e et und and en"""
)
#: An address of something else, and dates of something else than birth.
NOT_STREETS = frozenset(["ip", "mac", "email", "mail", "e", "web", "url", "http", "memory", "wallet", "host"])
NOT_BIRTHS = _set(
    """admission discharge visit death died hire hired entry exit start end begin created updated modified issue issued
    expiry order payment transaction purchase event diagnosis sample test appointment registration enrolment enrollment
    founded aufnahme entlassung tod sterbedatum eintritt austritt beginn ende erstellt bestellung zahlung admision
    deces sortie entree debut fin ingreso alta muerte defuncion inicio ricovero dimissione morte inizio fine opname
    ontslag overlijden begindatum einddatum"""
)

EMAIL = r"[^@\s,;<>]+@[^@\s,;<>.]+(\.[^@\s,;<>.]+)+"
URL = r"(?i)^(https?://|www\.)\S+$"
IP = r"^[0-9A-Fa-f:.]{7,45}$"
POSITIONS = r"^[(\[]?-?[0-9]{1,3}\.[0-9]{3,}\s*[,; ]\s*-?[0-9]{1,3}\.[0-9]{3,}[)\]]?$"
PHONE = (
    r"^(\+[1-9][0-9 ().\-/]{7,20}|00[1-9][0-9 ().\-/]{7,20}|(\+?1[-. ])?(\([0-9]{3}\)\s?|[0-9]{3}[-. ])[0-9]{3}[-. ]"
    r"[0-9]{4}|0[1-9][0-9]{8,9}|\(?0[1-9][0-9]{0,4}\)?[ \-/][0-9 \-/.]{4,12})$"
)
PHONE_IF_NAMED = r"^\+?\(?[0-9][0-9 ().\-/]{5,20}$"
POSTCODE = (
    r"^([A-Za-z]{1,2}[0-9][A-Za-z0-9]? ?[0-9][A-Za-z]{2}|[A-Za-z][0-9][A-Za-z] ?[0-9][A-Za-z][0-9]|"
    r"[1-9][0-9]{3} ?[A-Z]{2}|[0-9]{5}-[0-9]{4})$"
)
POSTCODE_IF_NAMED = rf"{POSTCODE}|^([A-Z]{{1,2}}-)?[0-9]{{4,6}}$"
_FIRST_WORDS = (
    "street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|court|ct|way|terrace|place|square|rue|chemin|all[eé]e|"
    "impasse|quai|cours"
)
_LAST_PARTS = "stra(ss|ß)e|str|weg|gasse|platz|allee|ufer|damm|straat|laan|plein|gracht|kade|dreef|singel|steenweg"
_WHOLE_WORDS = "calle|avenida|paseo|plaza|camino|via|viale|piazza|corso|largo|vicolo|stra(ss|ß)e|rue"
ADDRESS = (
    rf"(?i)^[0-9]{{1,5}}\s?[a-z]?,?\s+(\S+\s+){{0,4}}({_FIRST_WORDS})\b|\w({_LAST_PARTS})\.?,?\s+[0-9]{{1,4}}\s?[a-z]?\b|"
    rf"^({_WHOLE_WORDS})\s+[^0-9]{{2,40}}[0-9]{{1,4}}"
)
#: In this and in `LETTERS` an ``a`` is any letter of any alphabet, as in `Seen.lettered`: a pattern that names all of
#: them so often takes longer to compile than all others together.
DATE = (
    r"^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/. ][0-9]{1,2}[-/. ]([0-9]{4}|[0-9]{2})|"
    r"(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])|[0-9]{1,2}\.?[ -]a{3,10}\.?[ -][0-9]{4}|"
    r"a{3,10}\.? [0-9]{1,2},? [0-9]{4})$"
)
YEAR = r"(?:^|[-/. ,])((?:18|19|20)[0-9]{2})(?:$|[-/. ])|^((?:19|20)[0-9]{2})[0-9]{4}$"
LETTERS = r"^a[a'’.\-]*([ ,]+a[a'’.\-]*){0,4}$"
UUID = r"(?i)^\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$"
HEX = r"(?i)^(0x)?[0-9a-f]{16,128}$"
MAC = r"(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$"
# Without colons and slashes, which times, dates and readings such as that of blood pressure have.
CODE = r"^[\p{L}0-9][\p{L}0-9_\-.#]*$"
#: Amounts and measurements, however they are written.
AMOUNT = r"^[<>≤≥~]?\s*[+-]?[\p{Sc}]?\s*[0-9][0-9.,' ]*\s*(%|\p{Sc}|\p{L}{1,3})?$"

#: Frequent given names and surnames: a column in which every third cell holds one holds names.
COMMON_NAMES = _set(
    """james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark
    donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob gary
    nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory frank alexander raymond patrick
    jack dennis jerry tyler aaron adam henry nathan peter kyle walter ethan noah liam lucas oliver mary patricia
    jennifer linda elizabeth barbara susan jessica sarah karen nancy lisa betty margaret sandra ashley kimberly emily
    donna michelle carol amanda melissa deborah stephanie rebecca sharon laura cynthia kathleen amy angela shirley anna
    brenda pamela emma nicole helen samantha katherine christine debra rachel catherine carolyn janet maria heather
    diane ruth julie olivia joyce sophia isabella mia amelia hans peter wolfgang klaus jurgen gunter stefan andreas uwe
    bernd markus matthias sebastian tobias florian jan tim felix jonas leon lukas moritz ursula monika petra elisabeth
    sabine renate helga brigitte ingrid erika gisela claudia susanne birgit heike anja katrin julia lena hannah lea jean
    pierre philippe nathalie isabelle sylvie francoise jacques louis andre alain bernard marcel daniel laurent nicolas
    julien camille chloe manon marie antonio jose manuel francisco juan javier miguel angel carlos alejandro pedro pablo
    jesus sergio fernando luis carmen josefa isabel dolores pilar cristina lucia paula giuseppe giovanni antonio mario
    luigi francesco angelo vincenzo marco roberto alessandro giulia francesca chiara sara martina silvia elena johannes
    cornelis hendrik willem pieter jeroen bram daan sem johanna wilhelmina anneke sanne lotte femke mohammed mohamed ali
    ahmed fatima aisha mehmet mustafa ayse wei chen li wang zhang singh kumar patel kaur nguyen tran kim lee
    smith johnson williams jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson
    taylor moore martin muller schmidt schneider fischer weber meyer wagner becker schulz hoffmann dubois durand moreau
    lefebvre rossi russo ferrari esposito bianchi jansen bakker visser smit fernandez sanchez perez gomez
    kowalski nowak novak silva santos oliveira"""
)


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, in lower case and without accents.

    >>> words_of("PatientID_n°2"), words_of("Straße"), words_of("fecha de nacimiento")
    (('patient', 'id', 'n', '2'), ('strasse',), ('fecha', 'de', 'nacimiento'))
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    bare = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return tuple(part.lower() for part in _PART.findall(bare))


def runs_of(words: tuple[str, ...]) -> frozenset[str]:
    """Return the words, and their concatenations with up to four neighbors.

    >>> sorted(runs_of(("e", "mail")))
    ['e', 'email', 'mail']
    """
    return frozenset(
        "".join(words[first : first + length])
        for length in range(1, _LONGEST_RUN + 1)
        for first in range(len(words) - length + 1)
    )
